using System.Net.Sockets;
using System.Runtime.InteropServices;
using Cairn.Server.Platform;
using Cairn.Server.Tests.Testing;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Tests.Limits;

/// <summary>
/// A server without free descriptors accepts no client, logs that, and continues to serve. It accepts clients again when descriptors are free.
/// </summary>
public partial class DescriptorTests
{
    private const int DescriptorLimit = 7; // RLIMIT_NOFILE

    // Above what the tests' own process has open.
    private const int FewDescriptors = 2000;

    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_comes_while_there_are_no_descriptors_is_served_when_there_are(LoopUnderTest loop)
    {
        // Before the server starts, because the kernel reads the limit when accepting begins.
        ResourceLimit limit = default;
        Assert.Equal(0, GetLimit(DescriptorLimit, ref limit));
        Set(limit with { Soft = FewDescriptors });
        try
        {
            await using var server = await TestServer.StartAsync(loop, options => options with
            {
                Workers = 1,
                Limits = new ConnectionLimits { MaxConnections = 100 },
            });

            ServeWithoutDescriptors(server);
        }
        finally
        {
            Set(limit);
        }
    }

    // Synchronous, because the runtime cannot start threads without descriptors.
    private static void ServeWithoutDescriptors(TestServer server)
    {
        using var first = server.Connect();
        first.Send("echo a\n");
        Assert.Equal("a", first.ReadLine());
        using TestClient second = TestClient.Create(AddressFamily.InterNetwork);

        int[] taken = TakeAll();
        try
        {
            second.Socket.Connect(server.EndPoint);
            second.Send("echo hello\n");
            server.Log.WaitFor(line =>
                line.Level == LogLevel.Error && line.Message.Contains("can be accepted", StringComparison.Ordinal));
            first.Send("echo b\n");
            Assert.Equal("b", first.ReadLine());
        }
        finally
        {
            Array.ForEach(taken, LinuxSockets.CloseDescriptor);
        }

        Assert.Equal("hello", second.ReadLine());
    }

    private static int[] TakeAll()
    {
        var taken = new List<int>();
        int descriptor;
        while ((descriptor = LinuxSockets.EventDescriptor(0, LinuxSockets.CloseOnExec)) >= 0)
        {
            taken.Add(descriptor);
        }

        return [.. taken];
    }

    private static void Set(ResourceLimit limit) => Assert.Equal(0, SetLimit(DescriptorLimit, in limit));

    [LibraryImport("libc", EntryPoint = "getrlimit", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int GetLimit(int resource, ref ResourceLimit limit);

    [LibraryImport("libc", EntryPoint = "setrlimit", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int SetLimit(int resource, in ResourceLimit limit);

    // struct rlimit
    [StructLayout(LayoutKind.Sequential)]
    private record struct ResourceLimit(ulong Soft, ulong Hard);
}
