using System.Diagnostics.Metrics;
using System.Diagnostics.Tracing;
using Cairn.Server;
using Cairn.Server.Logging;
using Microsoft.Extensions.Logging;
using OpenTelemetry;
using OpenTelemetry.Exporter;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;

namespace Cairn.Cli.Serving;

/// <summary>Sends the metrics of a server to an OpenTelemetry collector. OpenTelemetry is loaded only if an instance is created.</summary>
internal sealed class Telemetry : IDisposable
{
    public const string EndpointVariable = "OTEL_EXPORTER_OTLP_ENDPOINT";
    public const string MetricsEndpointVariable = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";

    private const string ServiceNameVariable = "OTEL_SERVICE_NAME";
    private const string ProtocolVariable = "OTEL_EXPORTER_OTLP_PROTOCOL";
    private const string MetricsPath = "/v1/metrics";
    private const int LastWordMs = 2000;

    private readonly Meter _meter;
    private readonly MeterProvider _provider;
    private readonly Troubles _troubles;
    private bool _isEnded;

    private Telemetry(Meter meter, MeterProvider provider, Troubles troubles)
    {
        _meter = meter;
        _provider = provider;
        _troubles = troubles;
    }

    /// <summary>Begins to send.</summary>
    /// <param name="server">The server.</param>
    /// <param name="endpoint">The collector; null to use the environment variables.</param>
    /// <param name="environment">
    /// Reads environment variables, to find settings without a value. OpenTelemetry reads its own variables from the process.
    /// </param>
    public static Telemetry Start(ServerInsight server, Uri? endpoint, Func<string, string?> environment)
    {
        bool isGrpc = string.Equals(environment(ProtocolVariable), "grpc", StringComparison.OrdinalIgnoreCase);
        var troubles = new Troubles(server);
        MeterProvider provider = Sdk.CreateMeterProviderBuilder()
            .ConfigureResource(resource =>
            {
                // The default resource contains the values of the variables, and is kept.
                if (string.IsNullOrEmpty(environment(ServiceNameVariable)))
                {
                    resource.AddService(ToolIdentity.Name, serviceVersion: ServerInsight.Version);
                }
            })
            .AddMeter(ServerInsight.MeterName)
            .AddOtlpExporter(exporter =>
            {
                exporter.Protocol = isGrpc ? OtlpExportProtocol.Grpc : OtlpExportProtocol.HttpProtobuf;
                if (endpoint is not null)
                {
                    exporter.Endpoint = !isGrpc && endpoint.AbsolutePath == "/" ? new Uri(endpoint, MetricsPath) : endpoint;
                }
            })
            .Build();
        return new Telemetry(server.CreateMeter(), provider, troubles);
    }

    /// <summary>Sends the metrics a last time, within a time limit of two seconds.</summary>
    public void Dispose()
    {
        if (_isEnded)
        {
            return;
        }

        _isEnded = true;
        _provider.Shutdown(LastWordMs);
        _provider.Dispose();
        _meter.Dispose();
        _troubles.Dispose();
    }

    // OpenTelemetry reports failures only through an event source. At most one a minute is logged.
    private sealed class Troubles(ServerInsight server) : EventListener
    {
        private const string Exporter = "OpenTelemetry-Exporter-OpenTelemetryProtocol";
        private const long QuietMs = 60_000;

        private long _toldAt = -QuietMs;

        protected override void OnEventSourceCreated(EventSource eventSource)
        {
            if (eventSource.Name == Exporter)
            {
                EnableEvents(eventSource, EventLevel.Warning);
            }
        }

        protected override void OnEventWritten(EventWrittenEventArgs eventData)
        {
            long now = Environment.TickCount64;
            long toldAt = Interlocked.Read(ref _toldAt);
            if (now - toldAt >= QuietMs && Interlocked.CompareExchange(ref _toldAt, now, toldAt) == toldAt)
            {
                string details = string.Join(' ', (eventData.Payload ?? []).Select(part => $"{part}".Split('\n')[0]));
                server.Logger.Write(LogLevel.Warning, $"Figures cannot be sent by OTLP: {eventData.EventName}: {details}");
            }
        }
    }
}
