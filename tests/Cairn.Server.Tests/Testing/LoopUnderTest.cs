using Cairn.Server.Connections;
using Cairn.Server.Io;
using Cairn.Server.Io.Uring;

namespace Cairn.Server.Tests.Testing;

/// <summary>The ways to talk to the kernel that every test of connections runs with.</summary>
public enum LoopUnderTest
{
    Uring,

    /// <summary>io_uring as the oldest Linux that is served has it.</summary>
    OldestUring,
    Epoll,
    Sockets,
}

internal static class Loops
{
    /// <summary>Those that this machine has; containers often have no io_uring.</summary>
    public static IReadOnlyList<LoopUnderTest> All { get; } = [.. Enum.GetValues<LoopUnderTest>().Where(IsHere)];

    /// <summary>The same, for a theory.</summary>
    public static TheoryData<LoopUnderTest> Here { get; } = [.. All];

    public static EngineOptions With(this EngineOptions options, LoopUnderTest loop) => options with
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
        LoopChoice.For(new EngineOptions { Listeners = [] }.With(loop)) is var choices && choices.Any(choice => choice.Obstacle is null);
}
