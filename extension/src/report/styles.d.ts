/** Stylesheets, which the report's bundle takes in. */
declare module '*.css';
