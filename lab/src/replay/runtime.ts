import type { PlannedRequest, ReplayNode } from './node.ts';

/**
 * Runs in replayed pages. `R(work, items)` keeps the main thread busy for `work` milliseconds and then makes the
 * requests `items`: `[delay, means, url, items that wait for its end, 1 when it waits for the load event]`.
 *
 * A request made before the recorded load event must delay the replay's load event: while it is pending, a frame with an open
 * document does that (HTML, "completely finish loading"). Requests that do not delay the load event themselves are given a
 * moment to start.
 */
export const RUNTIME = `(function(){
var d=document,over=d.readyState==="complete",held=[],waiting=0,open=null;
function keep(){
if(over){return function(){}}
if(waiting++===0){open=d.createElement("iframe");open.style.display="none";add(open);open.contentDocument.open()}
return function(){if(--waiting===0){open.contentDocument.close()}}
}
addEventListener("load",function(){over=true;held.forEach(function(f){f()})});
function add(e){(d.body||d.head||d.documentElement).appendChild(e)}
function get(m,u,then){
var e,free=null;
function done(){if(then){R(0,then)}if(free){free()}}
if(m==="x"||m==="p"||m==="b"||m==="t"){free=keep();if(m==="b"||!then){setTimeout(free,10);free=null}}
if(m==="x"||m==="p"){fetch(u,{method:m==="p"?"POST":"GET"}).then(function(r){return r.arrayBuffer()}).then(done,done);return}
if(m==="b"){navigator.sendBeacon(u);return}
if(m==="t"){new FontFace("r"+u.length,"url("+u+")").load().then(function(f){d.fonts.add(f);done()},done);return}
if(m==="s"){e=d.createElement("script")}
else if(m==="c"){e=d.createElement("link");e.rel="stylesheet"}
else if(m==="f"){e=d.createElement("iframe")}
else{e=new Image()}
e.onload=e.onerror=done;
if(m==="c"){e.href=u}else{e.src=u}
if(m!=="i"){add(e)}
}
window.R=function(work,items){
var end=performance.now()+work;while(performance.now()<end){}
items.forEach(function(i){
function go(){get(i[1],i[2],i[3])}
function wait(){var free;if(i[0]>0){free=keep();setTimeout(function(){go();free()},i[0])}else{go()}}
if(i[4]&&!over){held.push(wait)}else{wait()}
})};
})();`;

const MEANS: Record<ReplayNode['type'], string> = {
  document: 'f',
  iframe: 'f',
  style: 'c',
  script: 's',
  font: 't',
  image: 'i',
  media: 'x',
  fetch: 'x',
  beacon: 'b',
  other: 'x',
};

type Item = [number, string, string, ...unknown[]];

/** A statement that makes the requests `made`, all children of one script or document. */
export function statementFor(made: ReplayNode<PlannedRequest>[], busyMs: number): string {
  if (made.length === 0 && busyMs === 0) return '';
  const present = new Set(made);
  const item = (node: ReplayNode<PlannedRequest>): Item => {
    const waiting = made.filter(({ after }) => after === node).map(item);
    const held = node.afterLoad && node.parent?.afterLoad === false;
    return [
      node.delayMs,
      node.method === 'POST' && node.type !== 'beacon' ? 'p' : MEANS[node.type],
      node.url,
      ...(waiting.length > 0 || held ? [waiting.length > 0 ? waiting : 0] : []),
      ...(held ? [1] : []),
    ];
  };
  const roots = made.filter(({ after }) => after === null || !present.has(after));
  return `R(${Math.round(busyMs)},${JSON.stringify(roots.map(item))})`;
}
