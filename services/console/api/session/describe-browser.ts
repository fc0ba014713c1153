/** The marks of browsers in a user agent. The order matters: the user agents of Edge and Opera contain the mark of Chrome too. */
const browsers: readonly [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\/|\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
];

const systems: readonly [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b|\biPad\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Returns the common name of the browser with this user agent, for example `Firefox on Linux`. */
export function describeBrowser(agent = ''): string {
  const findName = (list: typeof browsers) => list.find(([mark]) => mark.test(agent))?.[1];
  const [browser = 'A browser', system] = [findName(browsers), findName(systems)];
  return system === undefined ? browser : `${browser} on ${system}`;
}
