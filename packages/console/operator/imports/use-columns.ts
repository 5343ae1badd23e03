import { useEffect, useState } from 'preact/hooks';
import { type ColumnChoices, isPlain as isPlainIn, mappingOf, missingIn, suggestChoices } from './column-choices.ts';
import { describeFile, startBytes } from './describe-file.ts';
import { readColumns } from './read-columns.ts';

/** The columns of a file, and what they are chosen for; none if it is no CSV. */
export function useColumns(file: File | undefined, saved: string | null) {
  const [header, setHeader] = useState<readonly string[]>([]);
  const [choices, setChoices] = useState<ColumnChoices>({});
  const [saves, setSaves] = useState(true);
  const [read, setRead] = useState<File>();
  useEffect(() => {
    let isCurrent = true;
    setHeader([]);
    // a file that was removed: its check reports that
    const unread = (): readonly string[] => [];
    void headerOf(file)
      .catch(unread)
      .then((names) => {
        if (!isCurrent) return;
        setRead(file);
        setHeader(names);
        setChoices(suggestChoices(names, saved));
      });
    return () => {
      isCurrent = false;
    };
    // a mapping that is saved meanwhile does not undo what was chosen
  }, [file]);
  const hasColumns = header.length > 0;
  const isPlain = isPlainIn(header, choices);
  const mapping = hasColumns && !isPlain ? mappingOf(choices) : undefined;
  const missing = mapping === undefined ? [] : missingIn(choices);
  return { header, choices, isPlain, isReading: file !== read, mapping, missing, saves, setChoices, setSaves };
}

async function headerOf(file: File | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  const kind = describeFile(file.name, new Uint8Array(await file.slice(0, startBytes).arrayBuffer()));
  return kind === undefined ? [] : readColumns(file, kind);
}
