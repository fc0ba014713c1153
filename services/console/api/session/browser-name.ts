/** Browsers by a mark in their user agent. A browser whose user agent also contains the marks of other browsers comes before these. */
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
export function browserName(agent = ''): string {
  const named = (list: typeof browsers) => list.find(([mark]) => mark.test(agent))?.[1];
  const [browser = 'A browser', system] = [named(browsers), named(systems)];
  return system === undefined ? browser : `${browser} on ${system}`;
}
