import { refuseEncodings } from './encoding.ts';
import type { Server } from './server.ts';

/** Leaves bodies out of validation: their schemas are there for the definition alone. */
export function skipBodyCheck(app: Server): void {
  const compile = app.validatorCompiler;
  app.setValidatorCompiler(route =>
    route.httpPart === 'body' || !compile ? () => true : (compile(route) as () => boolean),
  );
}

/** Has bodies read as they come, and kept as they are: they are not checked, and not decoded. */
export function streamBodies(app: Server): void {
  app.addHook('onRequest', refuseEncodings);
  skipBodyCheck(app);
}
