// The two queues that a worker shares with the kernel. Entries are prepared here. One call submits them and waits for completions.
//
//   submission   head (kernel) <= entries not yet consumed < tail (ours)
//   completion   head (ours)   <= completions not yet seen < tail (kernel)
//
//   I1  One thread creates the ring and is the only one to use it, as SINGLE_ISSUER and DEFER_TASKRUN require.
//   I2  Each counter has one writer. The writer publishes with release after it has written (or read) the slots that the counter
//       covers. The other side reads the counter with acquire before it reads (or reuses) the slots.
//   I3  The kernel reads everything that an entry points to, except the data to send and to receive, while it submits the entry
//       (FEAT_SUBMIT_STABLE). The memory may be reused afterwards.
using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Server.Io.Uring;

internal sealed unsafe class UringRing : IDisposable
{
    private const uint NeededFeatures = UringNative.FeatureSingleMap | UringNative.FeatureNoDrop |
        UringNative.FeatureSubmitStable | UringNative.FeatureExtendedArgument;

    private const int PopulateMap = 0x8000;

    private readonly SafeFileHandle _handle;
    private readonly int _enterDescriptor;
    private readonly uint _enterFlags;
    private readonly byte* _rings;
    private readonly nuint _ringsBytes;
    private readonly UringNative.Entry* _entries;
    private readonly nuint _entriesBytes;
    private readonly uint* _submissionHead;
    private readonly uint* _submissionTail;
    private readonly uint* _submissionFlags;
    private readonly uint _submissionMask;
    private readonly uint _submissionCount;
    private readonly uint* _completionHead;
    private readonly uint* _completionTail;
    private readonly uint _completionMask;
    private readonly UringNative.Completion* _completions;
    private uint _prepared; // The submission tail. The next Enter publishes it to the kernel.
    private uint _submitted;

    private UringRing(SafeFileHandle handle, in UringNative.Parameters parameters)
    {
        _handle = handle;
        _ringsBytes = Math.Max(
            parameters.Submission.Array + (parameters.SubmissionEntries * sizeof(uint)),
            parameters.Completion.Completions + (parameters.CompletionEntries * (uint)sizeof(UringNative.Completion)));
        _entriesBytes = parameters.SubmissionEntries * (uint)sizeof(UringNative.Entry);
        _rings = Map(_ringsBytes, UringNative.OffsetOfRings);
        _entries = (UringNative.Entry*)Map(_entriesBytes, UringNative.OffsetOfEntries);

        _submissionHead = (uint*)(_rings + parameters.Submission.Head);
        _submissionTail = (uint*)(_rings + parameters.Submission.Tail);
        _submissionFlags = (uint*)(_rings + parameters.Submission.Flags);
        _submissionMask = *(uint*)(_rings + parameters.Submission.Mask);
        _submissionCount = parameters.SubmissionEntries;
        _completionHead = (uint*)(_rings + parameters.Completion.Head);
        _completionTail = (uint*)(_rings + parameters.Completion.Tail);
        _completionMask = *(uint*)(_rings + parameters.Completion.Mask);
        _completions = (UringNative.Completion*)(_rings + parameters.Completion.Completions);

        // Slot n always names entry n.
        uint* array = (uint*)(_rings + parameters.Submission.Array);
        for (uint i = 0; i < _submissionCount; i++)
        {
            array[i] = i;
        }

        (_enterDescriptor, _enterFlags) = RegisterItself();
    }

    /// <summary>Creates a ring with those of the wanted features that the kernel has.</summary>
    /// <exception cref="ServerException">The kernel cannot create a ring.</exception>
    public static UringRing Create(uint submissions, uint completions, UringFeatures wanted)
    {
        UringNative.Parameters parameters;
        int descriptor;
        while (true)
        {
            parameters = new UringNative.Parameters { Flags = FlagsOf(wanted), CompletionEntries = completions };
            descriptor = UringNative.Setup(submissions, &parameters);
            if (descriptor >= 0)
            {
                break;
            }

            int error = UringNative.LastError;
            if (error != LinuxErrors.Invalid || (wanted & (UringFeatures.DeferredWork | UringFeatures.SingleIssuer)) == 0)
            {
                throw new ServerException($"io_uring cannot be used: {Explain(error)}.");
            }

            // This kernel is older than the feature, so try without it.
            wanted &= (wanted & UringFeatures.DeferredWork) != 0 ? ~UringFeatures.DeferredWork : ~UringFeatures.SingleIssuer;
        }

        var handle = new SafeFileHandle(descriptor, ownsHandle: true);
        if ((parameters.Features & NeededFeatures) != NeededFeatures)
        {
            handle.Dispose();
            throw new ServerException("io_uring cannot be used: the kernel is too old; Linux 5.19 or later is needed.");
        }

        try
        {
            return new UringRing(handle, parameters) { Features = wanted };
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    /// <summary>Gets the requested features that the ring was created with.</summary>
    public UringFeatures Features { get; private init; }

    public SafeFileHandle Handle => _handle;

    /// <summary>Gets the number of entries that were prepared and not submitted.</summary>
    public uint Unsubmitted => _prepared - _submitted;

    public bool IsFull => Unsubmitted == _submissionCount;

    /// <summary>Gets whether more completions wait than the queue holds. The next call fetches them.</summary>
    public bool HasOverflow => (Volatile.Read(ref *_submissionFlags) & UringNative.CompletionsOverflow) != 0; // Set before the call returned.

    /// <summary>Returns a cleared entry to fill in. The queue must not be full.</summary>
    public UringNative.Entry* Prepare()
    {
        Debug.Assert(!IsFull, "Submit first.");

        UringNative.Entry* entry = _entries + (_prepared++ & _submissionMask);
        *entry = default;
        return entry;
    }

    /// <summary>Submits the prepared entries and waits for completions.</summary>
    /// <param name="minimum">The number of completions to wait for; 0 does not wait.</param>
    /// <param name="timeoutMs">The maximum time to wait, in milliseconds; -1 for no limit.</param>
    /// <param name="collects">Whether to collect completions at all.</param>
    /// <returns>0, or an error number.</returns>
    public int Enter(uint minimum, int timeoutMs, bool collects)
    {
        // Release; pairs with the kernel's acquire of the tail (I2). Without it, the kernel could see the tail before the entries.
        Volatile.Write(ref *_submissionTail, _prepared);
        uint flags = _enterFlags | (collects ? UringNative.EnterGetEvents : 0);
        int result;
        if (minimum == 0 || timeoutMs < 0)
        {
            result = UringNative.Enter(_enterDescriptor, Unsubmitted, minimum, flags, null, 0);
        }
        else
        {
            var time = new LinuxNative.Timespec { Seconds = timeoutMs / 1000, Nanoseconds = timeoutMs % 1000 * 1_000_000L };
            var argument = new UringNative.WaitArgument { SignalMaskBytes = 8, Timespec = (ulong)&time };
            result = UringNative.Enter(
                _enterDescriptor, Unsubmitted, minimum, flags | UringNative.EnterExtendedArgument, &argument, (nuint)sizeof(UringNative.WaitArgument));
        }

        // The head also shows how many entries the kernel took, and is valid even if the call failed. Acquire; pairs with the kernel's
        // release (I2): only entries below the head are reused.
        _submitted = Volatile.Read(ref *_submissionHead);
        return Math.Max(0, -result);
    }

    /// <summary>Returns the number of unseen completions. <see cref="Completion"/>(0) is the first of them.</summary>
    public int CompletionCount() =>
        // Acquire; pairs with the kernel's release (I2): completions are read after their number.
        (int)(Volatile.Read(ref *_completionTail) - *_completionHead);

    public ref readonly UringNative.Completion Completion(int index) =>
        ref _completions[(*_completionHead + (uint)index) & _completionMask];

    /// <summary>Marks the first completions as seen. The kernel may then overwrite them.</summary>
    public void Seen(int count) =>
        // Release; pairs with the kernel's acquire (I2): they are read before the kernel writes there again.
        Volatile.Write(ref *_completionHead, *_completionHead + (uint)count);

    public void Dispose()
    {
        _handle.Dispose();
        _ = LinuxNative.Unmap(_rings, _ringsBytes);
        _ = LinuxNative.Unmap(_entries, _entriesBytes);
    }

    private static uint FlagsOf(UringFeatures features)
    {
        uint flags = UringNative.SetupCqSize | UringNative.SetupClamp | UringNative.SetupSubmitAll;
        if ((features & UringFeatures.SingleIssuer) != 0)
        {
            flags |= UringNative.SetupSingleIssuer;
        }

        // Deferring needs a single issuer. Without deferring, cooperative work at least does not interrupt the worker.
        return flags | ((features & (UringFeatures.DeferredWork | UringFeatures.SingleIssuer)) ==
            (UringFeatures.DeferredWork | UringFeatures.SingleIssuer)
                ? UringNative.SetupDeferredWork
                : UringNative.SetupCooperativeWork);
    }

    private static string Explain(int error) => error switch
    {
        LinuxErrors.NoSystemCall => "this kernel has none, or the container hides it (seccomp)",
        LinuxErrors.NotPermitted or LinuxErrors.AccessDenied =>
            "it is forbidden here, by the container (seccomp) or by the setting kernel.io_uring_disabled",
        LinuxErrors.Invalid => "the kernel is too old; Linux 5.19 or later is needed",
        LinuxErrors.NoMemory => "there is no memory for it, or no locked memory ('ulimit -l')",
        _ => LinuxErrors.Text(error),
    };

    // Saves the kernel a lookup of the descriptor in each call. Where the kernel does not support it, only this saving is lost.
    private (int Descriptor, uint Flags) RegisterItself()
    {
        int descriptor = (int)_handle.DangerousGetHandle();
        var update = new UringNative.ResourceUpdate { Offset = uint.MaxValue, Data = (ulong)descriptor };
        return UringNative.Register(_handle, UringNative.RegisterRingDescriptors, &update, 1) == 1
            ? ((int)update.Offset, UringNative.EnterRegisteredRing)
            : (descriptor, 0);
    }

    private byte* Map(nuint bytes, long offset)
    {
        nint address = LinuxNative.Map(
            0, bytes, LinuxNative.ProtectRead | LinuxNative.ProtectWrite, LinuxNative.MapShared | PopulateMap, _handle, offset);
        return address != -1
            ? (byte*)address
            : throw new ServerException($"io_uring cannot be used: its queues cannot be mapped: {LinuxErrors.Text(LinuxNative.LastError)}.");
    }
}
