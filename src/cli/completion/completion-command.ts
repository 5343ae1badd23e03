import { Argument, type Command } from 'commander';
import type { Output } from '../output.ts';
import { bashCompletion } from './bash.ts';
import { describeCommands } from './described-command.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** `subreport completion`. */
export function addCompletionCommand(program: Command, output: Output): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(shells)))
    .addHelpText(
      'after',
      `
Examples:
  source <(subreport completion bash)    # in ~/.bashrc
  source <(subreport completion zsh)     # in ~/.zshrc, after compinit
  subreport completion fish > ~/.config/fish/completions/subreport.fish`,
    )
    .action((shell: keyof typeof shells) => {
      output.stdout.write(shells[shell](describeCommands(program)));
    });
}
