import { CopyButton } from '../../ui/copy-button.tsx';

interface SourceTextProps {
  readonly title: string;
  /** What the button copies: "curl command". */
  readonly what: string;
  readonly source: string;
  readonly hint?: string;
}

/** A part that opens: a text for programs, with a button that copies it. */
export const SourceText = ({ title, what, source, hint }: SourceTextProps) => (
  <details class="source">
    <summary>{title}</summary>
    <div class="source-body">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard */}
      <section tabIndex={0} aria-label={title}>
        <pre dir="ltr">{source}</pre>
      </section>
      <CopyButton text={source} what={what} />
      {hint !== undefined && <p class="soft">{hint}</p>}
    </div>
  </details>
);
