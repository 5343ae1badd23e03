import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { failureOf } from './failure.ts';
import { Icon } from './icon.tsx';
import { CircleAlert, RefreshCw } from './icons.ts';
import { strings } from './strings.ts';

interface ErrorNoteProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** What failed and what to do, beside the button that was pressed; the words of the service on request. */
export function ErrorNote({ error, onRetry }: ErrorNoteProps) {
  const { sentences, details, correlationId } = failureOf(error);
  return (
    <div class="error-note note row" role="alert">
      <Icon icon={CircleAlert} />
      <div class="error-note-body long">
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {details.length > 0 ? (
          <details>
            <summary>{strings.details}</summary>
            {details.map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
            <CorrelationId id={correlationId} />
          </details>
        ) : (
          <CorrelationId id={correlationId} />
        )}
      </div>
      {onRetry && (
        <Button icon={RefreshCw} onClick={onRetry}>
          {strings.tryAgain}
        </Button>
      )}
    </div>
  );
}

/** What the operator finds in the log of the service. */
const CorrelationId = ({ id }: { readonly id: string | undefined }) =>
  id !== undefined && (
    <p class="error-note-id row gap-1 soft small">
      {strings.correlationId}{' '}
      <span>
        <code>{id}</code>
        <CopyButton text={id} what={strings.correlationId.toLowerCase()} isInline />
      </span>
    </p>
  );
