/** The parts of the project, and the parts that each may import besides itself. */
export const mayImport: Record<string, readonly string[]> = {
  'shared/core': [],
  'shared/formats': ['shared/core'],
  'shared/translate': ['shared/core', 'shared/formats'],
  'shared/broker': ['shared/core'],
  'shared/accounts': ['shared/core'],
  'shared/registry': ['shared/core'],
  'shared/upstream': ['shared/core', 'shared/formats', 'shared/translate'],
  'shared/worker': ['shared/core', 'shared/broker', 'shared/upstream'],
  'shared/public-fetch': [],
  'shared/background': ['shared/core', 'shared/accounts'],
  'shared/files': ['shared/core', 'shared/accounts'],
  'shared/connections': ['shared/core', 'shared/accounts', 'shared/public-fetch', 'shared/registry'],
  'shared/serving': [
    'shared/core',
    'shared/formats',
    'shared/broker',
    'shared/accounts',
    'shared/files',
    'shared/registry',
  ],
};
