import type { DoctorResult } from '../../../contract/operator/doctor.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Stethoscope } from '../../ui/icons.ts';
import { RequestError } from '../../ui/request.ts';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { call } from '../call.ts';
import { ActionButton } from '../parts/action-button.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { formatSecond } from '../parts/format-time.ts';
import { StateLabel } from '../parts/state-label.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../parts/use-resource.ts';
import { strings } from '../strings.ts';

const { doctor: texts } = strings.health;

interface DoctorCardProps {
  /** When the store was last checked; `null` if never, absent if that is not known. */
  readonly lastCheckAt: string | null | undefined;
  readonly onRun: () => void;
}

/** The last check of the store, and a button that runs one. */
export function DoctorCard({ lastCheckAt, onRun }: DoctorCardProps) {
  const { value, error, reload } = useResource(`doctor ${lastCheckAt}`, (signal) =>
    lastCheckAt === null ? Promise.resolve('never' as const) : readLast(signal),
  );
  const {
    run,
    isBusy,
    error: failure,
  } = useAction(async () => {
    await call('runDoctor');
    reload();
    onRun();
  });
  return (
    <Card
      title={texts.title}
      actions={
        <ActionButton permission="runDoctor" icon={Stethoscope} busy={isBusy} onClick={() => void run()}>
          {isBusy ? texts.running : 'Check now'}
        </ActionButton>
      }
    >
      <div class="stack">
        {isBusy && <p role="status">{texts.running}</p>}
        {failure !== undefined && <ErrorNote error={failure} />}
        {error !== undefined && <ErrorNote error={error} onRetry={reload} />}
        {value === undefined && error === undefined && (
          <Loading>
            <Skeleton height="3em" />
          </Loading>
        )}
        {value === 'never' && <p class="soft">The store was never checked.</p>}
        {value !== undefined && value !== 'never' && <Result result={value} />}
      </div>
    </Card>
  );
}

/** A store that was never checked has no result, which is no error here. */
const readLast = (signal: AbortSignal): Promise<DoctorResult | 'never'> =>
  call('getDoctor', { signal }).catch((error: unknown) => {
    if (error instanceof RequestError && error.status === 404) return 'never';
    throw error;
  });

const Result = ({ result }: { result: DoctorResult }) => (
  <>
    <p>
      <StateLabel tone={result.ok ? 'active' : 'danger'}>{texts.verdict(result.problems)}</StateLabel>{' '}
      <DateTime value={result.finished_at} text={formatSecond(result.finished_at)} />{' '}
      <span class="soft">{texts.by(result.host, result.version, result.checked)}</span>
    </p>
    <details class="doctor-checks" open={!result.ok}>
      <summary>{texts.checks(result.checks.length)}</summary>
      <DataTable
        label={texts.title}
        columns={[
          { label: 'Check', cell: ({ check }) => check },
          { label: strings.tenant, cell: ({ tenant }) => tenant ?? strings.noValue },
          {
            label: 'Result',
            cell: ({ ok }) => <StateLabel tone={ok ? 'active' : 'danger'}>{ok ? 'Passed' : 'Failed'}</StateLabel>,
          },
          { label: 'Message', isWide: true, cell: ({ message }) => message },
        ]}
        items={result.checks}
        keyOf={({ check, tenant = '' }) => `${check} ${tenant}`}
      />
    </details>
  </>
);
