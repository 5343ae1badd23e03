import { type Layout, layOut, type Point } from './layered-layout.ts';
import type { Folder, FolderImports } from './read-folders.ts';

/** Pixels around the folders in a box, and above them for its name. */
const padding = 18;
const titleHeight = 52;

/** Colors for light and dark; a picture with a ground of its own is readable on any page. */
const style = `
:root { --page: #ffffff; --room: #f6f8fa; --wing: #ddf4ff; --edge: #d0d7de; --text: #1f2328; --soft: #59636e; --line: #8c959f; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0d1117; --room: #161b22; --wing: #12304d; --edge: #3d444d; --text: #f0f6fc; --soft: #9198a1; --line: #6e7681; }
}
text { font: 11px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: var(--soft); text-anchor: middle; }
.name { font-size: 14px; font-weight: 600; fill: var(--text); }
.level-0 { fill: var(--page); }
.level-1 { fill: var(--room); stroke: var(--edge); }
.level-2 { fill: var(--wing); stroke: var(--edge); }
.import { fill: none; stroke: var(--line); }
.head { fill: var(--line); }
.count { stroke-width: 5px; paint-order: stroke; }
.on-0 { stroke: var(--page); }
.on-1 { stroke: var(--room); }
`;

interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly svg: readonly string[];
}

/** An SVG of the folders as boxes in layers, with the imports between them as numbered arrows. */
export function drawFolders(root: Folder): string {
  const { width, height, svg } = drawFolder(root, 0);
  const size = `width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="The folders of the source and their imports">`,
    `<style>${style}</style>`,
    '<marker id="head" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto"><path class="head" d="M0,0 L9,4 L0,8 z"/></marker>',
    ...svg,
    '</svg>',
    '',
  ].join('\n');
}

function drawFolder(folder: Folder, level: number, linesMax = 0): Drawing {
  if (folder.folders.length === 0) {
    return drawBox(folder, level, { width: Math.max(110, 30 * (linesMax + 1)), height: 50 });
  }
  const insides = new Map(
    folder.folders.map((each) => [each.name, drawFolder(each, level + 1, linesAt(each.name, folder.imports))]),
  );
  const boxes = [...insides].map(([id, { width, height }]) => ({ id, width, height }));
  const layout = layOut(boxes, folder.imports);
  const top = level === 0 ? padding : titleHeight;
  const box = drawBox(folder, level, {
    width: layout.width + 2 * padding,
    height: layout.height + top + padding,
  });
  const children = [...insides].flatMap(([id, { svg }]) => shift(layout.corners.get(id), svg));
  const content = [...children, ...drawImports(folder.imports, layout, level)];
  return { ...box, svg: [...box.svg, ...shift({ x: padding, y: top }, content)] };
}

/** How many lines start or end at a folder, whichever is more. */
function linesAt(name: string, imports: readonly FolderImports[]): number {
  return Math.max(imports.filter(({ from }) => from === name).length, imports.filter(({ to }) => to === name).length);
}

function drawBox(folder: Folder, level: number, { width, height }: Omit<Drawing, 'svg'>): Drawing {
  const shape = `x="0.5" y="0.5" width="${round(width - 1)}" height="${round(height - 1)}" rx="8"`;
  const middle = round(width / 2);
  const text = [
    `<text class="name" x="${middle}" y="22">${folder.name}</text>`,
    `<text x="${middle}" y="38">${filesIn(folder)} files</text>`,
  ];
  return { width, height, svg: [`<rect class="level-${level}" ${shape}/>`, ...(level === 0 ? [] : text)] };
}

const filesIn = ({ files, folders }: Folder): number => folders.reduce((sum, each) => sum + filesIn(each), files);

function drawImports(imports: readonly FolderImports[], { routes }: Layout, level: number): string[] {
  const lines = imports.map(({ count }, at) => {
    const width = (1 + Math.log10(count) / 1.5).toFixed(2);
    return `<path class="import" stroke-width="${width}" marker-end="url(#head)" d="${curve(routes[at] ?? [])}"/>`;
  });
  const counts = imports.map(({ count }, at) => {
    const { x, y } = nearStart(routes[at] ?? []);
    return `<text class="count on-${level}" x="${round(x)}" y="${round(y)}">${count}</text>`;
  });
  return [...lines, ...counts];
}

/** A smooth line through points of which each is below the one before. */
function curve([first, ...rest]: readonly Point[]): string {
  let path = `M${round(first?.x ?? 0)},${round(first?.y ?? 0)}`;
  let from = first;
  for (const to of rest) {
    const middle = round(((from?.y ?? 0) + to.y) / 2);
    path += ` C${round(from?.x ?? 0)},${middle} ${round(to.x)},${middle} ${round(to.x)},${round(to.y)}`;
    from = to;
  }
  return path;
}

/** The place of a line's number: on the line, a little below its start. */
function nearStart([first, second]: readonly Point[]): Point {
  const part = 0.25;
  const [x, y] = [first?.x ?? 0, first?.y ?? 0];
  const weight = 3 * part ** 2 - 2 * part ** 3;
  const height = 1.5 * part - 1.5 * part ** 2 + part ** 3;
  return { x: x + weight * ((second?.x ?? x) - x), y: y + height * ((second?.y ?? y) - y) + 4 };
}

function shift(corner: Point | undefined, svg: readonly string[]): string[] {
  return [`<g transform="translate(${round(corner?.x ?? 0)} ${round(corner?.y ?? 0)})">`, ...svg, '</g>'];
}

const round = (number: number): number => Math.round(number * 10) / 10;
