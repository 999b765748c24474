using Cairn.Server.Io;
using Cairn.Server.Io.Uring;
using Cairn.Server.Listening;
using Cairn.Server.Metrics;

namespace Cairn.Server.Connections;

/// <summary>What an engine serves, and how.</summary>
internal sealed record EngineOptions
{
    public required IReadOnlyList<ListenerOptions> Listeners { get; init; }

    public ConnectionLimits Limits { get; init; } = new();

    public IoKind Io { get; init; } = IoKind.Auto;

    /// <summary>Threads that serve connections; 0 for one per core.</summary>
    public int Workers { get; init; }

    public ServerLog Log { get; init; } = ServerLog.None;

    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>The ways to the kernel to try, the best first; tests replace it.</summary>
    public Func<EngineOptions, IEnumerable<LoopChoice>> Choices { get; init; } = LoopChoice.For;

    /// <summary>Where the workers record what they do.</summary>
    public ServerMetrics Metrics { get; init; } = new();

    /// <summary>What of io_uring may be used, for tests of what older kernels lack.</summary>
    public UringFeatures AllowedUringFeatures { get; init; } = UringFeatures.All;
}
