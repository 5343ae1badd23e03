import { CopyButton } from '../../ui/copy-button.tsx';

interface SourceTextProps {
  readonly title: string;
  /** What the button copies: "the curl command". */
  readonly what: string;
  readonly source: string;
  readonly hint?: string;
}

/** A part that opens: a text for programs, with a button that copies it. */
export const SourceText = ({ title, what, source, hint }: SourceTextProps) => (
  <div class="source">
    <details>
      <summary>{title}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard */}
      <section class="surface" tabIndex={0} aria-label={title}>
        <pre dir="ltr">{source}</pre>
      </section>
      {hint !== undefined && <p class="soft">{hint}</p>}
    </details>
    <CopyButton text={source} what={what} />
  </div>
);
