import { refuseEncodings } from './encoding.ts';
import type { Server } from './server.ts';

/** Leaves bodies that are read as they come out of validation: their schemas are there for the definition alone. */
export function streamBodies(app: Server): void {
  app.addHook('onRequest', refuseEncodings);
  const compile = app.validatorCompiler;
  app.setValidatorCompiler(route =>
    route.httpPart === 'body' || !compile ? () => true : (compile(route) as () => boolean),
  );
}
