// What io_uring can do here is tried, not concluded from the kernel's version: distributions carry features back, and
// containers take them away.
using Cairn.Platform;

namespace Cairn.Server.Io.Uring;

internal static unsafe class UringProbe
{
    private const int WaitMs = 1000;

    /// <summary>What can be used of what is allowed; or why nothing can.</summary>
    public static (UringFeatures Features, string? Obstacle) Run(UringFeatures allowed)
    {
        if (!OperatingSystem.IsLinux() || !LinuxNative.IsSupportedArchitecture)
        {
            return (UringFeatures.None, "io_uring cannot be used: this is not Linux on x64 or arm64.");
        }

        try
        {
            using UringRing ring = UringRing.Create(8, 16, allowed);
            using UringBuffers buffers = UringBuffers.Register(ring.Handle, group: 0, mostCount: 8);
            UringFeatures features = ring.Features;
            if ((features & UringFeatures.MultishotReceive) != 0 && !ReceivesAgainAndAgain(ring))
            {
                features &= ~UringFeatures.MultishotReceive;
            }

            return (features, null);
        }
        catch (ServerException e)
        {
            return (UringFeatures.None, e.Message);
        }
    }

    // A kernel that does not know multishot receive refuses it; one that does receives two messages through one request.
    private static bool ReceivesAgainAndAgain(UringRing ring)
    {
        int* pair = stackalloc int[2];
        if (LinuxSockets.SocketPair(LinuxSockets.UnixFamily, LinuxSockets.Stream | LinuxSockets.CloseOnExec, 0, pair) != 0)
        {
            return false;
        }

        try
        {
            UringNative.Entry* entry = ring.Prepare();
            entry->Operation = UringNative.OpReceive;
            entry->Descriptor = pair[0];
            entry->Priority = UringNative.ReceiveMultishot;
            entry->Flags = UringNative.EntryBufferSelect;
            return ReceivesOne(ring, pair[1]) && ReceivesOne(ring, pair[1]);
        }
        finally
        {
            LinuxSockets.CloseDescriptor(pair[0]);
            LinuxSockets.CloseDescriptor(pair[1]);
        }
    }

    private static bool ReceivesOne(UringRing ring, int sender)
    {
        LinuxSockets.TrySend(sender, "x"u8);
        _ = ring.Enter(minimum: 1, WaitMs, collects: true);
        if (ring.CompletionCount() == 0)
        {
            return false;
        }

        UringNative.Completion completion = ring.Completion(0);
        ring.Seen(1);
        return completion.Result == 1 && (completion.Flags & UringNative.CompletionMore) != 0;
    }
}
