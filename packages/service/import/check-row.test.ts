import { describe, expect, test } from 'vitest';
import { operations } from '../../contract/operations.ts';
import { recordFields } from '../../contract/record-fields.ts';
import { Subscription } from '../../contract/subscription.ts';
import { checkRow } from './check-row.ts';

const right = {
  id: 'c3Vic2NyaXB0aW9uLTAwMDE=',
  status: 'ACTIVE',
  activationDate: '2024-05-01T08:00:00Z',
  expirationDate: '2024-05-31T08:00:00Z',
  createdDate: '2024-05-01T07:59:00Z',
  product: { id: 'p', name: 'Europe 5 GB', period: 30, period_unit: 'DAYS', plan_id: 'plan' },
  iccid: '8944500102198304826',
  device_id: 'device-1',
  auto_renew: 'true',
};

function rowOf(value: unknown) {
  const checked = checkRow(value);
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults));
  return checked.row;
}

function faultsOf(value: unknown) {
  const checked = checkRow(value);
  return 'faults' in checked ? checked.faults : [];
}

describe('checkRow with a valid row', () => {
  test('returns the columns that filters compare, and the JSON of the record', () => {
    expect(rowOf({ ...right, email: ' Ada@Example.COM ' })).toEqual({
      id: right.id,
      createdDate: Date.parse(right.createdDate) / 1000,
      activationDate: Date.parse(right.activationDate) / 1000,
      expirationDate: Date.parse(right.expirationDate) / 1000,
      status: 'ACTIVE',
      productId: 'p',
      planId: 'plan',
      iccid: right.iccid,
      deviceId: 'device-1',
      autoRenew: 'true',
      email: 'ada@example.com',
      record: JSON.stringify(right),
    });
  });

  test('writes the fields in the order of the contract, whatever the order of the source', () => {
    const { product, ...fields } = right;
    const turned = Object.fromEntries(
      Object.entries({ ...fields, product: Object.fromEntries(Object.entries(product).toReversed()) }).toReversed(),
    );
    expect(rowOf(turned).record).toBe(JSON.stringify(right));
  });

  test.each([
    [true, 'true'],
    [false, 'false'],
    ['false', 'false'],
    ['TRUE', 'true'],
    ['False', 'false'],
    ...['t', 'T', '1', 1, 'y', 'Y', 'yes', 'Yes'].map((given): [string | number, string] => [given, 'true']),
    ...['f', 'F', '0', 0, 'n', 'N', 'no', 'NO'].map((given): [string | number, string] => [given, 'false']),
  ])('writes auto_renew %j as the string %j, and tells a word that is another one', (given, word) => {
    const spellings = new Map<string, string>();
    const checked = checkRow({ ...right, auto_renew: given }, spellings);
    expect('row' in checked && JSON.parse(checked.row.record)).toHaveProperty('auto_renew', word);
    expect([...spellings]).toEqual(/true|false/i.test(String(given)) ? [] : [[`${given}`, word]]);
  });

  test.each(['30', '30.0', '30.00'])('writes the period %j as a number', (period) => {
    expect(rowOf({ ...right, product: { ...right.product, period } }).record).toBe(JSON.stringify(right));
  });

  test('writes each date in UTC and each boolean as a string, and leaves out each optional field that is null', () => {
    for (const { name, type, isOptional } of recordFields.filter(({ path }) => path.length === 1)) {
      const read = (value: unknown) => JSON.parse(rowOf({ ...right, [name]: value }).record);
      if (type === 'instant') expect(read('2024-05-01T10:00:00+02:00')).toHaveProperty(name, '2024-05-01T08:00:00Z');
      if (type === 'boolean') expect(read(true)).toHaveProperty(name, 'true');
      if (isOptional) expect(read(null)).not.toHaveProperty(name);
    }
  });

  test('treats a missing status and a null status alike: the record has none', () => {
    const { status: _status, ...without } = right;
    for (const value of [without, { ...right, status: null }]) {
      expect([rowOf(value).status, rowOf(value).record]).toEqual([null, JSON.stringify(without)]);
    }
  });

  test.each([
    ['2024-05-01T10:00:00+02:00', '2024-05-01T08:00:00Z'],
    ['2024-05-01T08:00:00.999Z', '2024-05-01T08:00:00Z'],
    ['2024-05-01 08:00:00Z', '2024-05-01T08:00:00Z'],
    ['2024-05-01t08:00:00Z', '2024-05-01T08:00:00Z'],
    ['2024-05-01 10:00:00+02', '2024-05-01T08:00:00Z'],
    ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ])('writes the date %s as %s', (given, written) => {
    const row = rowOf({ ...right, createdDate: given });
    expect(JSON.parse(row.record)).toHaveProperty('createdDate', written);
    expect(row.createdDate).toBe(Date.parse(written) / 1000);
  });

  test.each([
    ...['Not started', ' ', ' a ', '\u202eevil', '"', '\\', '🛰', '🛰'.repeat(64)],
    ...['__proto__', 'null', 'a;b', '=1+1'],
  ])('keeps the status and the unit %j as they are', (word) => {
    const value = { ...right, status: word, product: { ...right.product, period_unit: word } };
    expect([rowOf(value).status, rowOf(value).record]).toEqual([word, JSON.stringify(value)]);
  });

  test('treats a member of the product that is missing and one that is null alike: the record has none', () => {
    const { id } = right.product;
    const nulls = { id, name: null, period: null, period_unit: null, plan_id: null };
    for (const product of [{ id }, nulls]) {
      const { planId, record } = rowOf({ ...right, product });
      expect([planId, JSON.parse(record).product]).toEqual([null, { id }]);
    }
  });

  test('accepts an id of 255 characters, and one with padding', () => {
    const id = `${'a'.repeat(255)}==`;
    expect(rowOf({ ...right, id }).id).toBe(id);
    expect(faultsOf({ ...right, id: `a${id}` })).toMatchObject([{ field: 'id' }]);
  });

  test('treats a missing email and a null email alike: the row has none', () => {
    expect(rowOf(right).email).toBeNull();
    expect(rowOf({ ...right, email: null }).email).toBeNull();
  });

  test('accepts a createdDate later than the activationDate', () => {
    expect(faultsOf({ ...right, createdDate: '2024-06-01T00:00:00Z' })).toEqual([]);
  });
});

describe('checkRow with an invalid row', () => {
  test.each([
    ['id', 'a b', '"a b"'],
    ['id', 5, '5'],
    ['id', `${'a'.repeat(300)}`, `"${'a'.repeat(79)}…`],
    ['status', 'a,b', '"a,b"'],
    ['status', '', '""'],
    ['status', 'a\u0085b', '"a\u0085b"'],
    ['status', 'a\u2028b', '"a\u2028b"'],
    ['status', 'x'.repeat(65), `"${'x'.repeat(65)}"`],
    ['status', 7, '7'],
    ['createdDate', '2024-02-30T00:00:00Z', '"2024-02-30T00:00:00Z"'],
    ['createdDate', 1_714_521_600, '1714521600'],
    ['iccid', 8_944_500_102_198_304, '8944500102198304'],
    ['iccid', '1234', '"1234"'],
    ['device_id', 'a\nb', '"a\\nb"'],
    ['auto_renew', 'ye', '"ye"'],
    ['auto_renew', 2, '2'],
    ['auto_renew', ['t'], '["t"]'],
    ['product', 'p', '"p"'],
    ['product', null, 'null'],
  ])('reports %s %j with its field, its value and a rule that shows right values', (field, value, shown) => {
    expect(faultsOf({ ...right, [field]: value })).toEqual([{ field, value: shown, rule: expect.any(String) }]);
    if (field !== 'product')
      expect(faultsOf({ ...right, [field]: value })[0]?.rule).toMatch(/, such as |^"true" or "false"$/);
  });

  test.each(['activationDate', 'expirationDate', 'createdDate'])('asks for the offset that %s lacks', (field) => {
    for (const value of ['2024-05-01 08:00:00', undefined])
      expect(faultsOf({ ...right, [field]: value })[0]?.rule).toContain('date-time with Z, UTC or an offset');
  });

  test('names an invalid email without showing it', () => {
    expect(faultsOf({ ...right, email: 'not an address' })).toEqual([
      { field: 'email', value: null, rule: expect.stringContaining('such as') },
    ]);
  });

  test('names an unknown field without an address in its name', () => {
    const faults = faultsOf({ ...right, 'to Ada@Example.org': 1, product: { ...right.product, 'ada@example.org': 1 } });
    expect(faults.map(({ field }) => field).sort()).toEqual(['product.***', 'to ***']);
  });

  test('names an unknown field and suggests the known one', () => {
    const faults = faultsOf({ ...right, auto_renews: 'true' });
    expect(faults).toMatchObject([{ field: 'auto_renews' }]);
    expect(faults[0]?.rule).toContain("did you mean 'auto_renew'?");
  });

  test.each([65, 190, 250, 1_900])('a row with %i unknown fields has 1 to 32 faults', (count) => {
    const unknown = Object.fromEntries(Array.from({ length: count }, (_, n) => [`unknown${n}`, 1]));
    for (const row of [
      { ...right, ...unknown },
      { ...right, product: { ...right.product, ...unknown } },
    ])
      expect([1, 32]).toContain(faultsOf(row).length);
  });

  test.each([1.5, '30.5', '1e1', '-1', '', '30.', '1.000'])(
    'reports fields of the product with their path, as %j',
    (period) => {
      const product = { ...right.product, period, extra: 1 };
      const fields = faultsOf({ ...right, product }).map(({ field }) => field);
      expect(fields.toSorted()).toEqual(['product.extra', 'product.period']);
    },
  );

  test.each([...Subscription.required, 'product.id'])('tells %s that is null from one that is missing', (field) => {
    const name = field.replace('product.', '');
    const rowWith = (value: unknown) =>
      field === name ? { ...right, [name]: value } : { ...right, product: { ...right.product, [name]: value } };
    expect(faultsOf(rowWith(null))).toEqual([{ field, value: 'null', rule: expect.any(String) }]);
    const missing = JSON.parse(JSON.stringify(rowWith(undefined)));
    expect(faultsOf(missing)).toEqual([{ field, value: null, rule: expect.stringMatching(/^given: /) }]);
  });

  test('reports every field when every field has the wrong type', () => {
    const product = { id: '', name: 5, period: 'x', period_unit: 5, plan_id: {} };
    const dates = { activationDate: 'x', expirationDate: 5, createdDate: '2024-02-30T00:00:00Z' };
    const row = { id: ' ', status: 'gone,', ...dates, product, iccid: 'x', device_id: 5, auto_renew: '', email: 5 };
    const fields = faultsOf(row).map(({ field }) => field);
    const { product: _product, ...others } = row;
    expect(fields.toSorted()).toEqual(
      [...Object.keys(others), ...Object.keys(product).map((name) => `product.${name}`)].toSorted(),
    );
  });

  test.each([
    ['product.id', { product: { ...right.product, id: '\ud800' } }],
    ['product.name', { product: { ...right.product, name: 'a\udc00b' } }],
    ['product.plan_id', { product: { ...right.product, plan_id: '\udfff' } }],
    ['product.period_unit', { product: { ...right.product, period_unit: '\ud800' } }],
    ['status', { status: '\ud800' }],
    ['device_id', { device_id: 'device-\ud83d' }],
    ['email', { email: 'ada\ud800@example.com' }],
  ])('rejects a row if %s contains half of a surrogate pair (T1)', (field, given) => {
    expect(faultsOf({ ...right, ...given })).toMatchObject([{ field, rule: expect.any(String) }]);
  });

  test('accepts surrogate pairs and rejects half of one', () => {
    expect(faultsOf({ ...right, device_id: '\u{1f600}', email: '\u{1f600}@example.com' })).toEqual([]);
  });

  test('reports an unknown field with a long name by the beginning of its name', () => {
    const [fault] = faultsOf({ ...right, ['x'.repeat(100_000)]: 1 });
    expect(fault?.field).toBe(`${'x'.repeat(80)}…`);
  });

  test.each([null, 5, 'text', [right], true])('rejects %j, which is not an object', (value) => {
    expect(faultsOf(value)).toMatchObject([{ field: '', rule: expect.stringContaining('JSON object') }]);
  });
});

test('a row whose id is the name of another operation is rejected: no request could read it by its id', () => {
  const { path } = operations.getSubscription;
  const prefix = path.slice(0, path.indexOf('{'));
  const names = Object.values(operations).flatMap((each) =>
    each.path.startsWith(prefix) && !each.path.startsWith(path) && !each.path.slice(prefix.length).includes('/')
      ? [each.path.slice(prefix.length)]
      : [],
  );
  expect(names).toContain('summary');
  for (const id of names) {
    const rule = `no name of an operation: ${names.join(', ')}`;
    expect(faultsOf({ ...right, id })).toEqual([{ field: 'id', value: `"${id}"`, rule }]);
    expect(rowOf({ ...right, id: `${id}_` }).id).toBe(`${id}_`);
  }
});
