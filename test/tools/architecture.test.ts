import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Box, type Line, layOut } from '../../tools/architecture/layered-layout.ts';
import { type Folder, readFolders } from '../../tools/architecture/read-folders.ts';

function readTree(files: Readonly<Record<string, string>>): Folder {
  const root = mkdtempSync(join(tmpdir(), 'subreport-folders-'));
  try {
    for (const [file, source] of Object.entries(files)) {
      mkdirSync(join(root, dirname(file)), { recursive: true });
      writeFileSync(join(root, file), source);
    }
    return readFolders(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

test('imports between folders are counted, those of subfolders for the folder that holds them', () => {
  const root = readTree({
    'a/one.ts': "import { two } from '../b/two.ts';\nexport type { Deep } from '../b/inner/deep.ts';",
    'a/one.test.ts': "import { two } from '../b/two.ts';",
    'b/two.ts': "import fs from 'node:fs';\nimport { deep } from './inner/deep.ts';",
    'b/inner/deep.ts': "const later = () => import('../side/later.ts');",
    'b/side/later.ts': '',
    'b/side/schema.sql': '',
  });
  expect(root.imports).toEqual([{ from: 'a', to: 'b', count: 2 }]);
  expect(root.folders).toMatchObject([
    { name: 'a', files: 1, folders: [] },
    {
      name: 'b',
      files: 1,
      folders: [{ name: 'inner' }, { name: 'side', files: 1 }],
      imports: [{ from: 'inner', to: 'side', count: 1 }],
    },
  ]);
});

test('a graph with a circle is refused, and the circle named', () => {
  const boxes = ['a', 'b', 'c'].map((id) => ({ id, width: 10, height: 10 }));
  const lines = [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
    { from: 'c', to: 'b' },
  ];
  expect(() => layOut(boxes, lines)).toThrow('Cannot draw a → b → c → b: imports must not form a circle');
});

/** Up to nine boxes; a line goes from a box to a later one. */
const graphs: fc.Arbitrary<readonly [readonly Box[], readonly Line[]]> = fc
  .array(fc.record({ width: fc.integer({ min: 60, max: 300 }), height: fc.integer({ min: 40, max: 200 }) }), {
    minLength: 1,
    maxLength: 9,
  })
  .chain((sizes) => {
    const boxes = sizes.map((size, at) => ({ ...size, id: `box ${at}` }));
    const lines = boxes.flatMap((from, at) => boxes.slice(at + 1).map((to) => ({ from: from.id, to: to.id })));
    return fc.tuple(fc.constant(boxes), fc.subarray(lines));
  });

test('boxes of a layout lie apart and inside it', () => {
  fc.assert(
    fc.property(graphs, ([boxes, lines]) => {
      const layout = layOut(boxes, lines);
      const placed = boxes.map(({ id, width, height }) => {
        const { x, y } = layout.corners.get(id) ?? { x: Number.NaN, y: Number.NaN };
        return { left: x, right: x + width, top: y, bottom: y + height };
      });
      for (const [at, a] of placed.entries()) {
        expect(Math.min(a.left, a.top)).toBeGreaterThanOrEqual(-1e-6);
        expect(a.right).toBeLessThanOrEqual(layout.width + 1e-6);
        expect(a.bottom).toBeLessThanOrEqual(layout.height + 1e-6);
        for (const b of placed.slice(at + 1)) {
          expect(a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top).toBe(true);
        }
      }
    }),
    { numRuns: 50 },
  );
});

test('every line of a layout goes down, from the lower edge of its first box to the upper edge of its last', () => {
  fc.assert(
    fc.property(graphs, ([boxes, lines]) => {
      const { corners, routes } = layOut(boxes, lines);
      for (const [at, { from, to }] of lines.entries()) {
        const route = routes[at] ?? [];
        const [above, below] = [from, to].map((id) => boxes.find((box) => box.id === id));
        const ends = [route[0], route.at(-1)];
        expect(ends.map((end) => end?.y)).toEqual([
          (corners.get(from)?.y ?? 0) + (above?.height ?? 0),
          corners.get(to)?.y,
        ]);
        for (const [end, box] of [
          [ends[0], above],
          [ends[1], below],
        ] as const) {
          const left = corners.get(box?.id ?? '')?.x ?? Number.NaN;
          expect((end?.x ?? Number.NaN) - left).toBeGreaterThan(0);
          expect((end?.x ?? Number.NaN) - left).toBeLessThan(box?.width ?? 0);
        }
        expect(route.map(({ y }) => y)).toEqual(route.map(({ y }) => y).toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 50 },
  );
});
