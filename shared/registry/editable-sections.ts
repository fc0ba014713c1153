/**
 * The sections that can be edited at run time. All other sections are allowed only in the file that `ROUTER_CONFIG` names: access
 * (`sign_in`, `token_issuers`), the start of processes (`engines`, `providers`, `clis`, `mcpServers`), and `prices`, which have a separate
 * page.
 * See docs/decisions/0035-stored-registry.md.
 */
export const editableSections = ['models', 'auto', 'hosted_tools', 'credentials'] as const;

/** The sections of a file that the console shows. Other sections may contain keys of providers and URLs with passwords. */
export const shownSections: readonly string[] = [...editableSections, 'prices'];

/** Maximum bytes of a registry that is edited at run time, as text and as JSON. */
export const maxRegistryBytes = 256 * 1024;

/** Explains to an editor why a section cannot be edited at run time. */
export function explainNotEditable(section: string): string {
  const instruction = `write it into the file that ROUTER_CONFIG names, which then is the whole registry`;
  switch (section) {
    case 'prices':
      return 'prices are changed on the page Prices of the console, or by PUT /console/api/prices/<model>';
    case 'sign_in':
    case 'token_issuers':
      return `who may come in is not decided at run time: ${instruction}`;
    default:
      return `processes read this when they start: ${instruction}`;
  }
}
