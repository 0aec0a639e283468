/** Size of a node of the graph, CSS pixels; as in panel.css. */
export const NODE_WIDTH = 168;
export const NODE_HEIGHT = 38;
