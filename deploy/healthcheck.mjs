// The image's HEALTHCHECK: exits with 0 if all services of the process are alive.
const { PACKET_PORT = '8000', TRACE_PORT = '8080', CONSOLE_PORT = '8090' } = process.env;
const { SERVICES = 'packet,trace,console' } = process.env;
const ports = { packet: PACKET_PORT, trace: TRACE_PORT, console: CONSOLE_PORT };
try {
  for (const service of SERVICES.split(',')) {
    const answer = await fetch(`http://127.0.0.1:${ports[service.trim()]}/health/live`);
    if (!answer.ok) throw new Error(`${service}: ${answer.status}`);
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
