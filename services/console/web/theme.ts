import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

const ink: MantineColorsTuple = [
  '#eef2ff',
  '#dfe5fb',
  '#bcc8f4',
  '#96a8ee',
  '#768de9',
  '#627be6',
  '#4f68dc',
  '#4257c4',
  '#384bad',
  '#2c3e96',
];

/** The console's look, which is dense and quiet, with the fonts of the system. */
export const theme = createTheme({
  colors: { ink },
  primaryColor: 'ink',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  defaultRadius: 'sm',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif',
  fontFamilyMonospace:
    'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace',
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.35rem' }, h2: { fontSize: '1.05rem' }, h3: { fontSize: '0.95rem' } },
  },
  components: {
    // Badges keep their case and are never truncated.
    Badge: { defaultProps: { tt: 'none', fw: 500, style: { flex: 'none', maxWidth: '100%' } } },
    Button: { defaultProps: { size: 'sm' } },
    // The first focus in a menu is on its first item, because axe reports a focused placeholder that is no item.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Modal: { defaultProps: { centered: true, closeButtonProps: { 'aria-label': 'Close' } } },
    Table: { defaultProps: { verticalSpacing: 'xs', horizontalSpacing: 'sm' } },
    Tooltip: { defaultProps: { withArrow: true, events: { hover: true, focus: true, touch: false } } },
  },
});

/** Colours with enough contrast for WCAG's 4.5 : 1, which the library's dimmed text and placeholders do not reach. */
export const cssVariables: CSSVariablesResolver = ({ colors: { gray, dark, red, green } }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': gray[7],
    '--mantine-color-placeholder': gray[7],
    '--mantine-color-error': red[9],
    '--rtr-surface': '#ffffff',
    '--rtr-ground': '#f6f7f9',
    '--rtr-line': gray[3],
    '--rtr-added': green[1],
    '--rtr-removed': red[1],
  },
  dark: {
    '--mantine-color-dimmed': dark[1],
    '--mantine-color-placeholder': dark[1],
    '--mantine-color-error': red[4],
    '--rtr-surface': dark[7],
    '--rtr-ground': dark[8],
    '--rtr-line': dark[5],
    '--rtr-added': '#1c3a26',
    '--rtr-removed': '#472125',
  },
});
