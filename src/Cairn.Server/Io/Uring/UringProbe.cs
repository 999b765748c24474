// The features of io_uring are tried. The kernel's version does not show them: distributions port features back, and containers remove
// them.
using Cairn.Platform.Linux;
using Cairn.Server.Platform;

namespace Cairn.Server.Io.Uring;

internal static unsafe class UringProbe
{
    private const int WaitMs = 1000;

    // More than a socket takes at once.
    private const int LongSendBytes = 8 << 20;

    /// <summary>Returns the allowed features that work on this machine, or the reason why io_uring does not work.</summary>
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
            if ((features & UringFeatures.SilentSends) != 0 && !TellsOnlyFailures(ring))
            {
                features &= ~UringFeatures.SilentSends;
            }

            // This test is the last, so that later completions of its request are not mistaken for answers to another test.
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

    // A kernel without multishot receive rejects it. A kernel with it receives two messages through one request.
    private static bool ReceivesAgainAndAgain(UringRing ring) => WithPair((receiver, sender) =>
    {
        UringNative.Entry* entry = ring.Prepare();
        entry->Operation = UringNative.OpReceive;
        entry->Descriptor = receiver;
        entry->Priority = UringNative.ReceiveMultishot;
        entry->Flags = UringNative.EntryBufferSelect;
        return ReceivesOne(ring, sender) && ReceivesOne(ring, sender);
    });

    private static bool ReceivesOne(UringRing ring, int sender)
    {
        LinuxSockets.TrySend(sender, "x"u8);
        return TryComplete(ring, minimum: 1, out UringNative.Completion completion) &&
            completion.Result == 1 && (completion.Flags & UringNative.CompletionMore) != 0;
    }

    // A send with room for a part must report exactly that part. A send with room for everything must report nothing. Early kernels lose
    // the report of the part.
    private static bool TellsOnlyFailures(UringRing ring) => WithPair((receiver, sender) =>
    {
        byte[] bytes = new byte[LongSendBytes];
        return Send(bytes, bytes.Length, out UringNative.Completion part) && part.Result > 0 && part.Result < bytes.Length &&
            Receive(bytes) == part.Result && !Send(bytes, 1, out _) && Receive(bytes) == 1;

        bool Send(byte[] from, int count, out UringNative.Completion completion)
        {
            fixed (byte* start = from)
            {
                UringNative.Entry* entry = ring.Prepare();
                entry->Operation = UringNative.OpSend;
                entry->Flags = UringNative.EntrySilentSuccess;
                entry->Descriptor = sender;
                entry->Address = (ulong)start;
                entry->Length = (uint)count;
                entry->OperationFlags = LinuxSockets.NoSignal | LinuxSockets.DontWait | LinuxSockets.WaitAll;
                return TryComplete(ring, minimum: 0, out completion);
            }
        }

        long Receive(byte[] into)
        {
            fixed (byte* start = into)
            {
                long all = 0;
                nint count;
                while ((count = LinuxSockets.Receive(receiver, start, (nuint)into.Length, LinuxSockets.DontWait)) > 0)
                {
                    all += count;
                }

                return all;
            }
        }
    });

    private static bool TryComplete(UringRing ring, uint minimum, out UringNative.Completion completion)
    {
        completion = default;
        _ = ring.Enter(minimum, WaitMs, collects: true);
        if (ring.CompletionCount() == 0)
        {
            return false;
        }

        completion = ring.Completion(0);
        ring.Seen(1);
        return true;
    }

    private static bool WithPair(Func<int, int, bool> test)
    {
        int* pair = stackalloc int[2];
        if (LinuxSockets.SocketPair(LinuxSockets.UnixFamily, LinuxSockets.Stream | LinuxSockets.CloseOnExec, 0, pair) != 0)
        {
            return false;
        }

        try
        {
            return test(pair[0], pair[1]);
        }
        finally
        {
            LinuxSockets.CloseDescriptor(pair[0]);
            LinuxSockets.CloseDescriptor(pair[1]);
        }
    }
}
