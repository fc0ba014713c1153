/** Browsers by a mark of theirs, the ones that carry the marks of others first. */
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

/** What a person calls the browser with this user agent, as `Firefox on Linux`. */
export function browserName(agent = ''): string {
  const named = (list: typeof browsers) => list.find(([mark]) => mark.test(agent))?.[1];
  const [browser = 'A browser', system] = [named(browsers), named(systems)];
  return system === undefined ? browser : `${browser} on ${system}`;
}
