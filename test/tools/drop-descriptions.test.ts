import { expect, test } from 'vitest';
import { reportParameters } from '../../packages/contract/query.ts';
import { defaultPageLimits } from '../../packages/contract/report.ts';
import { descriptionOf, ruleOf } from '../../packages/contract/schema.ts';
import { type ConsoleName, filesOfFirstPage } from '../../tools/build-console.ts';

const scriptsOf = async (name: ConsoleName): Promise<string> =>
  (await filesOfFirstPage(name))
    .filter((file) => file.name.endsWith('.js'))
    .map(({ content }) => content)
    .join('\n');

test('the first page of the console has the rules of parameters, and no descriptions', async () => {
  const scripts = await scriptsOf('report');
  const { iccid, status, sort, cursor } = reportParameters(defaultPageLimits);
  expect(scripts).toContain(ruleOf(iccid).split(',')[0]);
  // of a template, its beginning
  for (const schema of [iccid, status, sort, cursor]) expect(scripts).not.toContain(descriptionOf(schema).slice(0, 30));
});
