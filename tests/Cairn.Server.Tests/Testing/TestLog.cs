using System.Collections.Concurrent;
using Cairn.Server.Connections;

namespace Cairn.Server.Tests.Testing;

internal sealed class TestLog : ServerLog
{
    public ConcurrentQueue<(ServerLogLevel Level, string Message)> Lines { get; } = [];

    public override void Write(ServerLogLevel level, string message) => Lines.Enqueue((level, message));
}
