import { expect, test } from 'vitest';
import { type ColumnChoices, columnIds, columns, fitColumns, tableWidthMin } from './columns.ts';

const visibleIn = (width: number, choices: ColumnChoices = {}) => [...fitColumns(width, choices).widths.keys()];

test.each([
  // window 1024 px: 208 px of it for the rail, 48 px for margins
  [768, ['status', 'product', 'iccid', 'created', 'ends', 'renews']],
  // window 1280 px: the name of the product before the time of the activation
  [1024, ['status', 'product', 'iccid', 'device', 'created', 'ends', 'renews']],
  [1184, ['status', 'product', 'iccid', 'device', 'plan', 'created', 'activated', 'ends', 'renews']],
])('a table of %d px has the columns %j', (width, columns) => {
  expect(visibleIn(width)).toEqual(columns);
});

test('an ICCID has all its digits when there is room for them', () => {
  expect(fitColumns(768, {}).isIccidFull).toBe(false);
  expect(fitColumns(1552, {}).isIccidFull).toBe(true);
});

test('a chosen column takes the place of one that was not chosen', () => {
  const visible = visibleIn(768, { device: true });
  expect(visible).toContain('device');
  expect(visible).not.toContain('renews');
});

test('a hidden column leaves its room to the others', () => {
  const visible = visibleIn(768, { iccid: false, renews: false });
  expect(visible).toEqual(['status', 'product', 'device', 'created', 'ends']);
});

test('columns never need more than the width of the table, whatever was chosen', () => {
  const all = Object.fromEntries(columnIds.map((id) => [id, true]));
  for (let width = tableWidthMin; width < 2600; width += 20) {
    const { widths } = fitColumns(width, all);
    expect([...widths.values()].reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(width);
  }
});

test('in a wide window the columns share the room that no name needs', () => {
  const { widths } = fitColumns(2200, {});
  const others = [...widths].filter(([id]) => id !== 'product').map(([, width]) => width);
  const product = 2200 - others.reduce((sum, width) => sum + width, 0);
  expect(product).toBeGreaterThanOrEqual(420);
  expect(product).toBeLessThan(430);
  expect(widths.get('status')).toBeGreaterThan(columns.status.width);
});
