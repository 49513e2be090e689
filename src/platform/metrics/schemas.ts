import type { Static } from 'typebox';
import { Type } from '../type.ts';

/** A metric with its values at the moment. */
const Metric = Type.Object({
  name: Type.String({ examples: ['jobs_waiting'] }),
  help: Type.String(),
  type: Type.String({ description: 'gauge, counter, histogram or summary' }),
  values: Type.Array(
    Type.Object({
      name: Type.String({ description: 'including its suffix, for histograms' }),
      labels: Type.Object({}, { additionalProperties: true }),
      value: Type.Number(),
    }),
  ),
});
export type Metric = Static<typeof Metric>;

/** The metrics of a process, as both services answer with them. */
export const metricFields = { metrics: Type.Array(Metric) };
