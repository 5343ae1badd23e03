import { expect, test } from 'vitest';
import iccidForms from '../../test/corpus/iccid-forms.json' with { type: 'json' };
import { instantParameters } from '../contract/query.ts';
import { readArguments } from './arguments.ts';
import { inputs } from './schemas.ts';

test.each([
  ...[...instantParameters, 'as-of'].map((name) => [name, inputs.list] as const),
  ...['since', 'until'].map((name) => [name, inputs.changesSummary] as const),
])('a plain day in %s is its midnight in UTC, unless a zone is given', (name, input) => {
  const day = '2024-05-01';
  const schema = { ...input, required: [] };
  expect(readArguments(schema, { [name]: day })).toEqual({ values: { [name]: `${day}T00:00:00Z` }, faults: [] });
  expect(readArguments(schema, { [name]: day, zone: 'Europe/Berlin' }).values).toMatchObject({ [name]: day });
});

test.each(iccidForms)('an ICCID with $form is read, or left to the service', ({ text, values }) => {
  const iccid = values.length === 1 ? values[0] : text;
  for (const given of [text, [text, 'x']])
    expect(readArguments(inputs.list, { iccid: given }).values).toEqual({
      iccid: given === text ? iccid : [iccid, 'x'],
    });
});
