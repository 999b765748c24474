using OpenTelemetry;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;

namespace Bookshop.Operation;

// ASP.NET Core, Npgsql and Cairn have meters and activity sources of their own, which cost nothing without a listener. The listener here is the
// exporter, if OTEL_EXPORTER_OTLP_ENDPOINT names a collector. The other environment variables of OpenTelemetry configure it too.

/// <summary>Sends metrics and traces to a collector.</summary>
internal sealed class Telemetry(IConfiguration configuration) : IHostedService, IDisposable
{
    private MeterProvider? _meters;
    private TracerProvider? _tracer;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        if (configuration["OTEL_EXPORTER_OTLP_ENDPOINT"] is { Length: > 0 })
        {
            var resource = ResourceBuilder.CreateDefault().AddService("bookshop");
            _meters = Sdk.CreateMeterProviderBuilder()
                .SetResourceBuilder(resource)
                .AddMeter("Microsoft.AspNetCore.Hosting", "Microsoft.AspNetCore.Server.Kestrel", "System.Runtime", "Npgsql", "Cairn.Caching")
                .AddOtlpExporter()
                .Build();
            _tracer = Sdk.CreateTracerProviderBuilder()
                .SetResourceBuilder(resource)
                .AddSource("Microsoft.AspNetCore", "Npgsql", "Cairn.Caching")
                .AddOtlpExporter()
                .Build();
        }

        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public void Dispose()
    {
        _meters?.Dispose();
        _tracer?.Dispose();
    }
}
