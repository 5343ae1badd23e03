import type { ComponentChildren } from 'preact';
import type { ServiceHealth } from '../../../contract/operator/health.ts';
import { Icon } from '../../ui/icon.tsx';
import { CircleAlert, CircleCheck, TriangleAlert } from '../../ui/icons.ts';
import { Link } from '../../ui/location.tsx';
import { strings } from '../strings.ts';

const { health: texts } = strings;

/** Where a problem can be looked into. */
const places: { readonly [id: string]: string } = {
  'failed-imports': '/console/imports?result=failed',
  'rejected-rows': '/console/imports',
  'stale-tenants': '/console/tenants',
  'lost-audit': '/console/audit',
};

/** The state of the service: healthy, or a sentence for each problem. */
export function HealthVerdict({ health: { problems, last_check_at: checkedAt } }: { health: ServiceHealth }) {
  const [worst] = problems;
  const icons = { error: CircleAlert, warning: TriangleAlert } as const;
  return (
    <section class="verdict surface" data-severity={worst?.severity ?? 'none'} aria-label="State of the service">
      <Icon icon={worst === undefined ? CircleCheck : icons[worst.severity]} size={28} />
      <div>
        <h2>{worst === undefined ? 'The service is healthy' : texts.attention[worst.severity]}</h2>
        {worst === undefined ? (
          <p class="soft">
            {checkedAt === null
              ? 'No import failed or rejected a row in the last 24 hours. The store was not checked yet.'
              : 'The store passed its last check, and no import failed or rejected a row in the last 24 hours.'}
          </p>
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

function sentenceOf({ id, count }: ServiceHealth['problems'][number]): ComponentChildren {
  const place = places[id];
  const sentence = isKnown(id) ? texts.problems[id](count) : id; // of a newer service
  return place === undefined ? sentence : <Link href={place}>{sentence}</Link>;
}

const isKnown = (id: string): id is keyof typeof texts.problems => Object.hasOwn(texts.problems, id);
