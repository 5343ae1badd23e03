import { parseForm } from '../../contract/form.ts';
import { type LoadParameter, loadParameters } from '../../contract/load.ts';
import { describeFaults, malformedFault, nameFaults } from '../../contract/parameter-faults.ts';
import { ProblemError } from '../../contract/problem-error.ts';
import { ruleOf } from '../../contract/schema.ts';
import { shorten } from '../../contract/shorten.ts';

/** The parameters of a load, each `true` or `false`. */
export type LoadFlags = Readonly<Record<LoadParameter, boolean>>;

const names = Object.keys(loadParameters) as LoadParameter[];

/** Reads the query string of a load; throws `ProblemError` with every fault. */
export function parseLoadParameters(query: string): LoadFlags {
  const { pairs, malformed } = parseForm(query);
  const faults = [...malformed.map(malformedFault), ...nameFaults(pairs, names)];
  for (const { name, value } of pairs) {
    const known = names.find((each) => each === name);
    if (known !== undefined && value !== 'true' && value !== 'false')
      faults.push({ parameter: known, value: shorten(value), rule: ruleOf(loadParameters[known]) });
  }
  const isOn = (name: LoadParameter): boolean => pairs.some((pair) => pair.name === name && pair.value === 'true');
  if (isOn('allow-empty') && !isOn('replace'))
    faults.push({ parameter: 'allow-empty', value: 'true', rule: 'combined with replace=true' });
  if (faults.length > 0) throw new ProblemError(describeFaults(faults, malformed.length > 0));
  return Object.fromEntries(names.map((name) => [name, isOn(name)])) as LoadFlags;
}
