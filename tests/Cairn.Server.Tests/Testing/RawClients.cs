using System.Net;
using Cairn.Server.Platform;

namespace Cairn.Server.Tests.Testing;

/// <summary>Many clients that use plain system calls, so that they need almost no memory themselves.</summary>
internal sealed unsafe class RawClients : IDisposable
{
    // For all other open files.
    private const int OtherDescriptors = 1000;

    private readonly List<int> _descriptors = [];

    public int Count => _descriptors.Count;

    /// <summary>Connects <paramref name="wanted"/> clients, or as many as this process can have together with a server.</summary>
    public static RawClients Connect(EndPoint server, int wanted)
    {
        long limit = LinuxSockets.RaiseDescriptorLimit((2L * wanted) + OtherDescriptors);
        SocketAddress socketAddress = server.Serialize();
        byte[] address = socketAddress.Buffer.Span[..socketAddress.Size].ToArray();
        var clients = new RawClients();
        for (long i = Math.Min(wanted, (limit - OtherDescriptors) / 2); i > 0; i--)
        {
            clients.Connect(address);
        }

        return clients;
    }

    public void Send(int client, ReadOnlySpan<byte> bytes)
    {
        fixed (byte* start = bytes)
        {
            Assert.Equal(bytes.Length, LinuxSockets.Send(_descriptors[client], start, (nuint)bytes.Length, LinuxSockets.NoSignal));
        }
    }

    /// <summary>Receives as many bytes as are expected, and compares them.</summary>
    public void Expect(int client, ReadOnlySpan<byte> bytes)
    {
        Span<byte> received = stackalloc byte[bytes.Length];
        fixed (byte* start = received)
        {
            Assert.Equal(bytes.Length, LinuxSockets.Receive(_descriptors[client], start, (nuint)bytes.Length, LinuxSockets.WaitAll));
        }

        Assert.True(received.SequenceEqual(bytes));
    }

    public void Dispose() => _descriptors.ForEach(LinuxSockets.CloseDescriptor);

    private void Connect(byte[] address)
    {
        int descriptor = LinuxSockets.Socket(LinuxSockets.InternetFamily, LinuxSockets.Stream | LinuxSockets.CloseOnExec, 0);
        Assert.NotEqual(-1, descriptor);
        _descriptors.Add(descriptor);
        fixed (byte* start = address)
        {
            Assert.Equal(0, LinuxSockets.Connect(descriptor, start, (uint)address.Length));
        }
    }
}
