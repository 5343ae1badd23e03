import { expect, test } from 'vitest';
import { wideComments } from '../../tools/check-comments.ts';

const wide = 'w'.repeat(101);

test.each([
  ['a line comment', `// ${wide}`, [1]],
  ['a comment after code', `const a = 1; // ${wide}`, [1]],
  ['a line in a block comment', `/**\n * short\n * ${wide}\n */`, [3]],
  ['a comment after a regular expression with a quote', `x.replace(/['"\`/]/g, ''); // ${wide}`, [1]],
  ['a comment after a nested template', `const a = \`\${b ? \`c\` : ''}\`;\n// ${wide}`, [2]],
])('%s that ends beyond column 100 is refused', (_, source, lines) => {
  expect(wideComments(source).map(({ line }) => line)).toEqual(lines);
});

test.each([
  ['a comment that ends at column 100', `// ${'w'.repeat(97)}`],
  ['a comment with a URL', `// https://example.com/${wide}`],
  ['wide code without a comment', `const a = '// ${wide}';`],
  ['a template that holds slashes', `const a = \`\n// ${wide}\n\`;`],
])('%s is accepted', (_, source) => {
  expect(wideComments(source)).toEqual([]);
});
