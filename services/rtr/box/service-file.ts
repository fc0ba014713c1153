import { configExitCode } from '#shared/core/run-service.ts';

/** The service with which the operating system runs a box. */
export interface BoxServiceFacts {
  /** Name of the box. */
  name: string;
  /** The program with its arguments. */
  command: readonly string[];
  /** The environment variables of the service. */
  environment: Readonly<Record<string, string>>;
  /** File for the output, where the operating system has no log of its own. */
  logFile: string;
}

export const unitName = 'model-router-box.service';
export const agentLabel = 'model-router.box';

/** Seconds that running answers have when the service is stopped. */
const stopSeconds = 45;
/** Seconds between an unexpected end and the next start. */
const restartSeconds = 5;

/** Formats the unit of systemd. It is not started again after an end that only a person can mend. */
export function formatSystemdUnit({ name, command, environment }: BoxServiceFacts): string {
  return [
    '[Unit]',
    `Description=Model Router box ${name}`,
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    `ExecStart=${command.map((word) => quoteForSystemd(word.replaceAll('$', '$$$$'))).join(' ')}`,
    ...Object.entries(environment).map(([key, value]) => `Environment=${quoteForSystemd(`${key}=${value}`)}`),
    'Restart=always',
    `RestartSec=${restartSeconds}`,
    `RestartPreventExitStatus=${configExitCode}`,
    // The box stops its workers in order.
    'KillMode=mixed',
    `TimeoutStopSec=${stopSeconds}`,
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

/**
 * Script between launchd and the box. launchd starts a program again after every failure, so the script turns a failure that only a person
 * can mend into success. It passes on the signal to stop, which interrupts the first `wait`.
 */
const launchdScript = [
  '"$@" & pid=$!',
  'trap \'kill -s TERM "$pid"\' TERM INT',
  'wait "$pid"; code=$?',
  'while kill -s 0 "$pid" 2>/dev/null; do wait "$pid"; code=$?; done',
  `[ "$code" -eq ${configExitCode} ] && exit 0`,
  'exit "$code"',
].join('\n');

/** Formats the property list of a launchd agent. */
export function formatLaunchdAgent({ command, environment, logFile }: BoxServiceFacts): string {
  const string = (text: string): string => `<string>${escapeForXml(text)}</string>`;
  const array = (words: readonly string[]): string => `<array>${words.map(string).join('')}</array>`;
  const variables = Object.entries(environment).map(
    ([key, value]) => `<key>${escapeForXml(key)}</key>${string(value)}`,
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0"><dict>',
    `<key>Label</key>${string(agentLabel)}`,
    `<key>ProgramArguments</key>${array(['/bin/sh', '-c', launchdScript, 'box', ...command])}`,
    `<key>EnvironmentVariables</key><dict>${variables.join('')}</dict>`,
    '<key>RunAtLoad</key><true/>',
    '<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    `<key>ThrottleInterval</key><integer>${restartSeconds * 2}</integer>`,
    `<key>ExitTimeOut</key><integer>${stopSeconds}</integer>`,
    `<key>StandardOutPath</key>${string(logFile)}`,
    `<key>StandardErrorPath</key>${string(logFile)}`,
    '</dict></plist>',
    '',
  ].join('\n');
}

/** Quotes a word of a unit file, in which `%` begins a specifier. */
function quoteForSystemd(word: string): string {
  return `"${word
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('%', '%%')}"`;
}

function escapeForXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\n', '&#10;');
}
