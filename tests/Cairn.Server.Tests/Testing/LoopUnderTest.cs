using Cairn.Server.Connections;
using Cairn.Server.Io.Uring;

namespace Cairn.Server.Tests.Testing;

/// <summary>The event loops with which every connection test runs.</summary>
public enum LoopUnderTest
{
    Uring,

    /// <summary>io_uring with the features of the oldest supported Linux.</summary>
    OldestUring,
    Epoll,
    Sockets,
}

internal static class Loops
{
    /// <summary>Gets the loops that this machine supports; containers often have no io_uring.</summary>
    public static IReadOnlyList<LoopUnderTest> All { get; } = [.. Enum.GetValues<LoopUnderTest>().Where(IsHere)];

    /// <summary>Gets the same loops for a theory.</summary>
    public static TheoryData<LoopUnderTest> Here { get; } = [.. All];

    public static ServerEngineOptions With(this ServerEngineOptions options, LoopUnderTest loop) => options with
    {
        Io = KindOf(loop),
        AllowedUringFeatures = loop == LoopUnderTest.OldestUring ? UringFeatures.None : UringFeatures.All,
    };

    private static IoKind KindOf(LoopUnderTest loop) => loop switch
    {
        LoopUnderTest.Epoll => IoKind.Epoll,
        LoopUnderTest.Sockets => IoKind.Sockets,
        _ => IoKind.Uring,
    };

    private static bool IsHere(LoopUnderTest loop) =>
        new ServerEngineOptions { Listeners = [] }.With(loop) is var options && options.Choices(options) is var choices && choices.Any(choice => choice.Obstacle is null);
}
