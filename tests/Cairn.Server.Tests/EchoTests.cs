using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests;

/// <summary>What a client sends is executed, and what the session replies arrives.</summary>
public class EchoTests
{
    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Request_is_answered(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();

        client.Send("echo hello\n");

        Assert.Equal("hello", client.ReadLine());
    }
}
