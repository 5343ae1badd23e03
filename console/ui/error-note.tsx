import { CircleAlert, RefreshCw } from 'lucide';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { failureOf } from './failure.ts';
import { Icon } from './icon.tsx';
import { strings } from './strings.ts';

interface ErrorNoteProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** The error sentences of the service, beside the button that was pressed. */
export function ErrorNote({ error, onRetry }: ErrorNoteProps) {
  const { messages, correlationId } = failureOf(error);
  return (
    <div class="error-note" role="alert">
      <Icon icon={CircleAlert} />
      <div class="error-note-body">
        {messages.map((message) => (
          <p key={message}>{message}</p>
        ))}
        {correlationId !== undefined && (
          <p class="error-note-id">
            {strings.correlationId}{' '}
            <span>
              <code>{correlationId}</code>
              <CopyButton text={correlationId} what={strings.correlationId.toLowerCase()} />
            </span>
          </p>
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
