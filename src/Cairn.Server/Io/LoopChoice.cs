using Cairn.Server.Io.Epoll;
using Cairn.Server.Io.Sockets;
using Cairn.Server.Io.Uring;

namespace Cairn.Server.Io;

/// <summary>A kind of loop that may serve, or the reason why it cannot.</summary>
internal sealed record LoopChoice(IoKind Kind, Func<IoLoop> Make, string? Obstacle = null)
{
    /// <summary>Returns the kinds of loops to try, the best first.</summary>
    public static IEnumerable<LoopChoice> For(IoKind io, UringFeatures allowedFeatures)
    {
        if (io is IoKind.Auto or IoKind.Uring)
        {
            (UringFeatures features, string? obstacle) = UringProbe.Run(allowedFeatures);
            yield return new LoopChoice(IoKind.Uring, () => new UringLoop(features), obstacle);
        }

        if (io is IoKind.Auto or IoKind.Epoll)
        {
            yield return new LoopChoice(IoKind.Epoll, () => new EpollLoop(), EpollLoop.Obstacle);
        }

        if (io is IoKind.Auto or IoKind.Sockets)
        {
            yield return new LoopChoice(IoKind.Sockets, () => new SocketsLoop());
        }
    }
}
