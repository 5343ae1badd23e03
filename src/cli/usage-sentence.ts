/** A name without the value that follows it, such as `--output` of `-o, --output <format>`. */
const name = (flags: string): string => flags.replace(/^-\w, /, '').replace(/ .*$/, '');

type Sentence = (...groups: string[]) => string;

/** What commander says about a wrong use, and the sentence for it. */
const sentences: readonly (readonly [RegExp, Sentence])[] = [
  [
    /^option '(.+?)' argument '(.*)' is invalid\. (.+)$/s,
    (flags = '', value = '', rule = '') => `Cannot use ${name(flags)}: ${withValue(rule, value)}`,
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '(.+?)'\. (.+)$/s,
    (value = '', argument = '', rule = '') => `Cannot use <${argument}>: ${withValue(rule, value)}`,
  ],
  [/^option '(.+)' argument missing$/, (flags = '') => `Cannot use ${name(flags)}: its value must follow: ${flags}`],
  [/^required option '(.+)' not specified$/, (flags = '') => `Cannot run the command: ${flags} must be given`],
  [/^missing required argument '(.+)'$/, (argument) => `Cannot run the command: <${argument}> must be given`],
  [
    /^option '(.+?)' cannot be used with option '(.+?)'$/,
    (flags = '', other = '') => `Cannot use ${name(flags)}: it must not be combined with ${name(other)}`,
  ],
  [
    /^unknown option '(.+?)'(.*)$/s,
    (flag, near = '') => `Cannot use ${flag}: it must be an option of the command${suggestion(near)}`,
  ],
  [
    /^unknown command '(.+?)'(.*)$/s,
    (command, near = '') => `Cannot run '${command}': it must be a command that --help lists${suggestion(near)}`,
  ],
  [
    /^too many arguments(?: for '(.+?)')?\. Expected (\d+) arguments? but got \d+: (.*)\.$/s,
    (command = 'subreport', count, given) =>
      `Cannot run '${command}': it must have at most ${count} arguments besides options: current value is '${given}'`,
  ],
];

/** Rewords an error of commander as the commands word theirs: what must hold, and the value. */
export function usageSentence(text: string): string {
  const said = text.replace(/^error: /, '').trimEnd();
  for (const [pattern, sentence] of sentences) {
    const found = pattern.exec(said);
    if (found !== null) return `${sentence(...found.slice(1))}\n`;
  }
  return text;
}

function withValue(rule: string, value: string): string {
  const must = rule.replace(/^Allowed choices are (.*)\.$/, 'it must be one of $1');
  return must.includes('current value is') ? must : `${must}: current value is '${value}'`;
}

const suggestion = (near: string): string => {
  const [, names] = /\(Did you mean (?:one of )?(.+)\?\)/.exec(near) ?? [];
  return names === undefined ? '' : `; did you mean '${names}'?`;
};
