import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Icon } from '../../ui/icon.tsx';
import { Link } from '../../ui/location.tsx';
import type { Metrics } from '../parse-metrics.ts';
import { strings } from '../strings.ts';
import { findProblems, type HealthProblem } from './find-problems.ts';

const { health: texts } = strings;

/** Where a problem can be looked into. */
const places: { readonly [Id in HealthProblem['id']]?: string } = {
  failedImports: '/console/imports?result=failed',
  rejectedRows: '/console/imports',
  staleTenants: '/console/tenants',
  lostAudit: '/console/audit',
};

/** The state of the service: healthy, or a sentence for each problem. */
export function HealthVerdict({ metrics }: { metrics: Metrics }) {
  const problems = findProblems(metrics, Date.now() / 1000);
  const [worst] = problems;
  const icons = { error: CircleAlert, warning: TriangleAlert } as const;
  return (
    <section class="verdict" data-severity={worst?.severity ?? 'none'} aria-label={texts.verdict}>
      <Icon icon={worst === undefined ? CircleCheck : icons[worst.severity]} size={28} />
      <div>
        <h2>{worst === undefined ? texts.well : texts.attention[worst.severity]}</h2>
        {worst === undefined ? (
          <p class="soft">{texts.wellHint}</p>
        ) : (
          <ul>
            {problems.map((problem) => (
              <li key={problem.id}>{sentenceOf(problem)}</li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

function sentenceOf({ id, count }: HealthProblem): ComponentChildren {
  const place = places[id];
  const sentence = texts.problems[id](count);
  return place === undefined ? sentence : <Link href={place}>{sentence}</Link>;
}
