import { useId, useState } from 'preact/hooks';
import { IconButton } from '../../ui/button.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { ChevronLeft, ChevronRight } from '../../ui/icons.ts';
import { pagePosition } from '../store/page-position.ts';
import { type LoadedReport, type Place, showReport } from '../store/report-store.ts';
import { tableStrings } from './table-strings.ts';

const text = tableStrings;
const sizes = [20, 50, 100, 200];

interface PagerProps {
  readonly report: LoadedReport;
  /** Where it stands. */
  readonly place: Place;
}

/** The page, its neighbours, any other page, and how many rows a page has. */
export function Pager({ report, place }: PagerProps) {
  const { number, count, size } = pagePosition(report.page);
  return (
    <nav class="pager row no-print" aria-label={text.pagesAt[place === 'below' ? 'below' : 'above']}>
      <JumpField key={number} report={report} place={place} />
      <IconButton
        icon={ChevronLeft}
        label={text.previous}
        aria-disabled={number <= 1 || undefined}
        onClick={() => turnPage(report, -1, place)}
      />
      <IconButton
        icon={ChevronRight}
        label={text.next}
        aria-disabled={number >= count || undefined}
        onClick={() => turnPage(report, 1, place)}
      />
      {place === 'above' && (
        <select
          class="control"
          aria-label={text.size}
          title={text.size}
          value={size}
          onChange={({ currentTarget: { value } }) =>
            showReport({ ...report.state, size: Number(value), page: undefined }, place)
          }
        >
          {[...new Set([...sizes, size])]
            .sort((a, b) => a - b)
            .map((each) => (
              <option key={each} value={each}>
                {text.rows(each)}
              </option>
            ))}
        </select>
      )}
    </nav>
  );
}

/** The number of the page, in a field that jumps to another page. */
function JumpField({ report, place }: PagerProps) {
  const { number, count, first } = pagePosition(report.page);
  const id = useId();
  const [typed, setTyped] = useState(String(number));
  const [isWrong, setIsWrong] = useState(false);
  return (
    <form
      class="jump row"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = /^\d{1,10}$/.test(typed.trim()) ? Number(typed) : 0;
        const exists = wanted >= 1 && wanted <= Math.max(count, 1);
        setIsWrong(!exists);
        if (exists && wanted !== number) showReport({ ...report.state, page: wanted + first - 1 }, place);
      }}
    >
      <label for={id}>{text.page}</label>
      <input
        id={id}
        class="control"
        inputMode="numeric"
        autocomplete="off"
        size={Math.max(String(count).length, 2)}
        value={typed}
        aria-invalid={isWrong || undefined}
        aria-describedby={isWrong ? `${id}-note` : undefined}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onFocus={(event) => event.currentTarget.select()}
      />
      <span>{text.pageOf(formatCount(Math.max(count, 1)))}</span>
      {isWrong && (
        <p id={`${id}-note`} class="field-error small" role="alert">
          {text.pageRule(Math.max(count, 1))}
        </p>
      )}
    </form>
  );
}

/** Shows the page before or after a page, if there is one. */
export function turnPage({ state, page }: LoadedReport, step: -1 | 1, place: Place): void {
  const { number, count } = pagePosition(page);
  if (number + step < 1 || number + step > count) return;
  showReport({ ...state, page: page.currentPage + step }, place);
}
