/** What a file has instead of the whole report. */
export interface Question {
  /** The query string of the link, whose days are as asked: `created-from=last-month`. */
  readonly text: string;
  /** Its parameters, whose days are instants. */
  readonly query: Readonly<Record<string, string>>;
}

/** A question in a sentence. */
export const describeQuestion = (text: string | undefined): string =>
  text === undefined ? 'the whole report' : `the question '${text}'`;

/** What the rows of a file are, after their number: those of a question are not the report. */
export const rowsOfQuestion = (text: string | undefined): string =>
  text === undefined ? '' : ` of ${describeQuestion(text)}`;
