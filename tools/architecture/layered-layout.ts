// A layered drawing of a directed graph without circles (Sugiyama's method): rank the boxes, order
// each layer so that few lines cross, then place boxes and lines. Every line goes down.

export interface Box {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

export interface Line {
  readonly from: string;
  readonly to: string;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** The top left corner of each box. */
  readonly corners: ReadonlyMap<string, Point>;
  /** For each line, in the given order, its points from top to bottom. */
  readonly routes: readonly (readonly Point[])[];
}

/**
 * Pixels between neighbours in a layer, between layers, between lines at the edge of a box, and
 * from a line to the corner.
 */
const gap = { side: 26, layer: 62, port: 30, corner: 16 };

const passageWidth = 4;

/** A box, or the place where a line passes a layer. */
interface Node extends Omit<Box, 'height'> {
  readonly isPassage: boolean;
  readonly rank: number;
  height: number;
  readonly above: Node[];
  readonly below: Node[];
  x: number;
  y: number;
}

/** Draws the graph; throws when its lines form a circle. */
export function layOut(boxes: readonly Box[], lines: readonly Line[]): Layout {
  const ranks = rankBoxes(boxes, lines);
  const nodes = new Map(boxes.map((box) => [box.id, newNode(box, ranks.get(box.id) ?? 0)]));
  const chains = lines.map((line) => chainOf(line, nodes));
  const layers = orderLayers([...new Set([...nodes.values(), ...chains.flat()])]);
  placeAcross(layers);
  const height = placeDown(layers);
  const all = layers.flat();
  const left = Math.min(...all.map(({ x, width }) => x - width / 2));
  for (const node of all) node.x -= left;
  return {
    width: Math.max(...all.map(({ x, width }) => x + width / 2)),
    height,
    corners: new Map(boxes.map(({ id }) => [id, cornerOf(nodes.get(id))])),
    routes: routeLines(chains),
  };
}

const newNode = (box: Box, rank: number, isPassage = false): Node => ({
  ...box,
  rank,
  isPassage,
  above: [],
  below: [],
  x: 0,
  y: 0,
});

const cornerOf = (node: Node | undefined): Point => ({ x: (node?.x ?? 0) - (node?.width ?? 0) / 2, y: node?.y ?? 0 });

/** A box's rank is the length of the longest way down from it. */
function rankBoxes(boxes: readonly Box[], lines: readonly Line[]): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  const rank = (id: string, way: readonly string[]): number => {
    if (way.includes(id))
      throw new TypeError(`Cannot draw ${[...way, id].join(' → ')}: imports must not form a circle`);
    const known = ranks.get(id);
    if (known !== undefined) return known;
    const below = lines.filter(({ from }) => from === id).map(({ to }) => rank(to, [...way, id]));
    const own = Math.max(-1, ...below) + 1;
    ranks.set(id, own);
    return own;
  };
  for (const { id } of boxes) rank(id, []);
  return ranks;
}

/** The nodes of a line from top to bottom, one for each layer that it passes. */
function chainOf({ from, to }: Line, nodes: ReadonlyMap<string, Node>): readonly Node[] {
  const [first, last] = [nodes.get(from), nodes.get(to)];
  if (first === undefined || last === undefined) throw new TypeError(`Cannot draw ${from} → ${to}: both must be boxes`);
  const chain = [first];
  for (let rank = first.rank - 1; rank > last.rank; rank -= 1) {
    chain.push(newNode({ id: `${from} ${to}`, width: passageWidth, height: 0 }, rank, true));
  }
  chain.push(last);
  for (const [at, node] of chain.entries()) {
    const next = chain[at + 1];
    if (next === undefined) continue;
    node.below.push(next);
    next.above.push(node);
  }
  return chain;
}

/** The layers from top to bottom, each in an order that leaves few crossings. */
function orderLayers(nodes: readonly Node[]): readonly Node[][] {
  const highest = Math.max(...nodes.map(({ rank }) => rank));
  const layers = Array.from({ length: highest + 1 }, (_, at) => nodes.filter(({ rank }) => rank === highest - at));
  const improve = (): boolean => layers.map((layer) => swapNeighbours(layer)).includes(true);
  for (let round = 0; round < 24; round += 1) {
    for (const layer of layers) sortByNeighbours(layer, layers, 'above');
    for (const layer of layers.toReversed()) sortByNeighbours(layer, layers, 'below');
    while (improve());
  }
  return layers;

  function swapNeighbours(layer: Node[]): boolean {
    let improved = false;
    for (let at = 0; at + 1 < layer.length; at += 1) {
      const before = crossings(layers);
      swap(layer, at);
      if (crossings(layers) < before) improved = true;
      else swap(layer, at);
    }
    return improved;
  }
}

function swap(layer: Node[], at: number): void {
  const [first, second] = layer.slice(at, at + 2);
  if (first !== undefined && second !== undefined) layer.splice(at, 2, second, first);
}

function sortByNeighbours(layer: Node[], layers: readonly Node[][], side: 'above' | 'below'): void {
  const places = placesOf(layers);
  const wanted = new Map(layer.map((node) => [node, mean(node[side].map((each) => places.get(each) ?? 0))]));
  layer.sort((a, b) => (wanted.get(a) ?? places.get(a) ?? 0) - (wanted.get(b) ?? places.get(b) ?? 0));
}

const placesOf = (layers: readonly Node[][]): ReadonlyMap<Node, number> =>
  new Map(layers.flatMap((layer) => layer.map((node, place) => [node, (place + 0.5) / layer.length] as const)));

function crossings(layers: readonly Node[][]): number {
  const places = placesOf(layers);
  const place = (node: Node): number => places.get(node) ?? 0;
  let count = 0;
  for (const layer of layers) {
    const parts = layer.flatMap((from) => from.below.map((to) => [place(from), place(to)] as const));
    for (const [a, b] of parts) for (const [c, d] of parts) if (a < c && b > d) count += 1;
  }
  return count;
}

/** Moves each node as near to the middle of its neighbours as the order allows. */
function placeAcross(layers: readonly Node[][]): void {
  for (const layer of layers) spread(layer);
  for (let round = 0; round < 60; round += 1) {
    for (const layer of layers) spread(layer);
    for (const layer of layers.toReversed()) spread(layer);
  }
}

function spread(layer: readonly Node[]): void {
  const wanted = layer.map(({ above, below, x }) => mean([...above, ...below].map((each) => each.x)) ?? x);
  const distances = layer.map((node, at) => ((layer[at - 1]?.width ?? 0) + node.width) / 2 + gap.side);
  for (const [at, x] of placeApart(wanted, distances).entries()) {
    const node = layer[at];
    if (node !== undefined) node.x = x;
  }
}

/**
 * The places nearest to the wanted ones (least squares) in which each is at least its distance
 * right of the one before it: pool adjacent violators.
 */
function placeApart(wanted: readonly number[], distances: readonly number[]): readonly number[] {
  const offsets: number[] = [];
  for (const [at, distance] of distances.entries()) offsets.push(at === 0 ? 0 : (offsets[at - 1] ?? 0) + distance);
  const pools: { sum: number; size: number }[] = [];
  for (const [at, x] of wanted.entries()) {
    let pool = { sum: x - (offsets[at] ?? 0), size: 1 };
    for (
      let last = pools.at(-1);
      last !== undefined && last.sum / last.size > pool.sum / pool.size;
      last = pools.at(-1)
    ) {
      pool = { sum: pool.sum + last.sum, size: pool.size + last.size };
      pools.pop();
    }
    pools.push(pool);
  }
  return pools.flatMap(({ sum, size }) => Array<number>(size).fill(sum / size)).map((x, at) => x + (offsets[at] ?? 0));
}

/** Puts the layers below each other; the height of all. */
function placeDown(layers: readonly Node[][]): number {
  let top = 0;
  for (const layer of layers) {
    const height = Math.max(...layer.map((node) => node.height));
    for (const node of layer) {
      if (node.isPassage) node.height = height;
      node.y = top;
    }
    top += height + gap.layer;
  }
  return top - gap.layer;
}

/**
 * Runs each line from the lower edge of its first box, straight through the layers that it passes.
 */
function routeLines(chains: readonly (readonly Node[])[]): readonly Point[][] {
  return chains.map((chain) =>
    chain.flatMap((node, at) => {
      const [previous, next] = [chain[at - 1], chain[at + 1]];
      const enter = previous && { x: portOf(node, node.above, previous), y: node.y };
      const leave = next && { x: portOf(node, node.below, next), y: node.y + node.height };
      return [enter, leave].filter((point) => point !== undefined);
    }),
  );
}

/** Where at the edge of a box the line from or to a neighbour ends. */
function portOf(node: Node, neighbours: readonly Node[], neighbour: Node): number {
  const sorted = neighbours.toSorted((a, b) => a.x - b.x);
  const most = Math.max(0, node.width / 2 - gap.corner);
  const step = Math.min(gap.port, (2 * most) / Math.max(1, sorted.length - 1));
  const places = placeApart(
    sorted.map(({ x }) => x),
    sorted.map(() => step),
  );
  const at = sorted.indexOf(neighbour);
  const [left, right] = [node.x - most + at * step, node.x + most - (sorted.length - 1 - at) * step];
  return Math.min(Math.max(places[at] ?? node.x, left), right);
}

const mean = (numbers: readonly number[]): number | undefined =>
  numbers.length === 0 ? undefined : numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
