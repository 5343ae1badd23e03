import type { ServiceHealth } from '../../../contract/operator/health.ts';
import { Icon } from '../../ui/icon.tsx';
import { CircleAlert, CircleCheck, TriangleAlert } from '../../ui/icons.ts';
import { Link } from '../../ui/location.tsx';
import { strings } from '../strings.ts';

const { health: texts } = strings;

/** The page that follows a sentence as a link. No list has exactly what the sentence counts. */
const places: { readonly [id: string]: { readonly href: string; readonly title: string } } = {
  'failed-imports': { href: '/console/imports?result=failed', title: 'Failed imports' },
  'rejected-rows': { href: '/console/imports', title: strings.imports.title },
  'stale-tenants': { href: '/console/tenants', title: strings.tenants.title },
  'lost-audit': { href: '/console/audit', title: strings.audit.title },
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
              <Problem key={problem.id} problem={problem} />
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

function Problem({ problem: { id, count } }: { readonly problem: ServiceHealth['problems'][number] }) {
  const place = places[id];
  return (
    <li>
      {isKnown(id) ? texts.problems[id](count) : id /* of a newer service */}{' '}
      {place !== undefined && <Link href={place.href}>{place.title}</Link>}
    </li>
  );
}

const isKnown = (id: string): id is keyof typeof texts.problems => Object.hasOwn(texts.problems, id);
