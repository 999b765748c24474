using Cairn.Server.Io;
using Cairn.Server.Io.Uring;
using Cairn.Server.Listening;
using Cairn.Server.Logging;
using Cairn.Server.Metrics;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Server.Connections;

/// <summary>The options of an engine.</summary>
internal sealed record ServerEngineOptions
{
    public required IReadOnlyList<ListenerOptions> Listeners { get; init; }

    public ConnectionLimits Limits { get; init; } = new();

    public IoKind Io { get; init; } = IoKind.Auto;

    /// <summary>Gets the number of threads that serve connections; 0 for one per core.</summary>
    public int Workers { get; init; }

    /// <summary>Gets the maximum number of connections that wait to be accepted.</summary>
    public int Backlog { get; init; } = Listener.DefaultBacklog;

    public ILogger Log { get; init; } = NullLogger.Instance;

    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>Gets the function that lists the kernel interfaces to try, the best first. Tests replace it.</summary>
    public Func<ServerEngineOptions, IEnumerable<LoopChoice>> Choices { get; init; } = options => LoopChoice.For(options.Io, options.AllowedUringFeatures);

    /// <summary>Gets the metrics that the workers record.</summary>
    public ServerMetrics Metrics { get; init; } = new();

    /// <summary>Gets the features of io_uring that may be used. Tests remove some, to test kernels that lack them.</summary>
    public UringFeatures AllowedUringFeatures { get; init; } = UringFeatures.All;
}
