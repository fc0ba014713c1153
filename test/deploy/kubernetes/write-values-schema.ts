import { writeFileSync } from 'node:fs';
import { valuesSchemaText } from './values-schema.ts';

// Run by `npm run chart`: regenerates the schema of the chart's values from the settings of the services.
writeFileSync('deploy/kubernetes/model-router/values.schema.json', valuesSchemaText());
