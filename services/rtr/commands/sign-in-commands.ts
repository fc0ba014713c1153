import { Argument, Option, type Command } from 'commander';
import { ClientError } from '../client/lib/client-error.mjs';
import { printSettings } from '../client/lib/commands/env.mjs';
import { login } from '../client/lib/commands/login.mjs';
import { logout } from '../client/lib/commands/logout.mjs';
import { printToken } from '../client/lib/commands/token.mjs';
import { programNames } from '../client/lib/programs/programs.mjs';

/** Adds the commands of the client package, which sign a person in to a router from any machine. */
export function addSignInCommands(program: Command): void {
  const router = ['--router <url>', 'address of the router; default: the router of the last sign-in'] as const;
  program
    .command('login <url>')
    .description('sign in to a router, so that no API key is stored on this machine')
    .option('--no-browser', 'only show the address of the page, do not open it')
    .action((url: string, { browser }: { browser: boolean }) => run(() => login(url, { opensBrowser: browser })));
  program
    .command('token')
    .description('print an access token for the router that is valid for at least two minutes')
    .option(...router)
    .action(({ router }: { router?: string }) => run(() => printToken(router)));
  program
    .command('env')
    .description('print the settings with which a program uses the router, or write them into its settings file')
    .addArgument(new Argument('<program>').choices(programNames))
    .option('--write', "write them into the program's settings file; its first version is kept as <file>.before-rtr")
    .addOption(new Option('--shell <name>', 'the shell to print variables for').choices(['sh', 'fish', 'powershell']))
    .option(...router)
    .action((name: string, { router, write, shell }: { router?: string; write?: true; shell?: string }) =>
      run(() => printSettings(name, { router, writes: write ?? false, shell })),
    );
  program
    .command('logout')
    .description('sign out, at the router too')
    .option(...router)
    .action(({ router }: { router?: string }) => run(() => logout(router)));
}

/** Runs a command of the client, and sets its exit code. */
async function run(command: () => Promise<number | void>): Promise<void> {
  try {
    process.exitCode = (await command()) ?? 0;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}
