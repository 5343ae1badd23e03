import { useState } from 'preact/hooks';
import { IconButton } from './button.tsx';
import { Check, Copy } from './icons.ts';
import { announce, announceShown } from './live-region.tsx';
import { strings } from './strings.ts';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied: "correlation id". */
  readonly what: string;
  /** Within a line of text. */
  readonly isInline?: boolean;
}

const shownMs = 2_000;

/** Copies a text to the clipboard. Shows a check mark for 2 s. */
export function CopyButton({ text, what, isInline = false }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    const done = await copyText(text);
    if (!done) return announceShown(strings.notCopied);
    announce(strings.copied);
    setCopied(true);
    setTimeout(() => setCopied(false), shownMs);
  };
  return (
    <IconButton
      icon={copied ? Check : Copy}
      label={copied ? strings.copied : strings.copy(what)}
      isInline={isInline}
      onClick={copy}
    />
  );
}

/** Returns whether the text is on the clipboard; pages that were loaded over http have none. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
