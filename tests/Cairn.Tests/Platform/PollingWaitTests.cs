using Cairn.Platform;

namespace Cairn.Tests.Platform;

/// <summary>Waiting on systems on which a process cannot wake another.</summary>
public sealed unsafe class PollingWaitTests : IDisposable
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(1);

    private readonly uint* _word = (uint*)System.Runtime.InteropServices.NativeMemory.AllocZeroed(sizeof(uint));

    public void Dispose() => System.Runtime.InteropServices.NativeMemory.Free(_word);

    [Fact]
    public void Word_with_another_value_is_not_waited_for() => Assert.True(PollingWait.Run(_word, 1, Timeout.InfiniteTimeSpan, &Fail));

    [Fact]
    public void Change_of_the_word_ends_the_wait() => Assert.True(PollingWait.Run(_word, 0, Timeout.InfiniteTimeSpan, &ChangeAfterAMillisecond));

    [Fact]
    public void Wake_ends_the_wait_although_the_word_is_the_same() => Assert.True(PollingWait.Run(_word, 0, Long, &Wake));

    [Fact]
    public void Wait_without_either_lasts_its_time_and_says_so()
    {
        Assert.False(PollingWait.Run(_word, 0, TimeSpan.Zero, &Fail));
        Assert.False(PollingWait.Run(_word, 0, TimeSpan.FromMilliseconds(20), &PollingWait.Sleep));
    }

    [Fact]
    public void Pauses_double_up_to_15_milliseconds()
    {
        uint* state = stackalloc uint[2];

        PollingWait.Run(state, 0, Timeout.InfiniteTimeSpan, &SumOfSix);

        Assert.Equal(1u + 2 + 4 + 8 + 15 + 15, state[1]);
    }

    [Fact]
    public void Negative_time_is_refused() =>
        Assert.Throws<ArgumentOutOfRangeException>(() => PollingWait.Run(_word, 0, TimeSpan.FromTicks(-1), &Fail));

    private static bool Fail(uint* address, uint expected, int pauseMs) => throw new InvalidOperationException("Nothing was to be waited for.");

    private static bool Wake(uint* address, uint expected, int pauseMs) => true;

    private static bool ChangeAfterAMillisecond(uint* address, uint expected, int pauseMs)
    {
        *address = pauseMs > 1 ? 1u : 0;
        return false;
    }

    // Changes the word, which ends the wait, when the longest pause has occurred twice.
    private static bool SumOfSix(uint* address, uint expected, int pauseMs)
    {
        bool wasLong = address[1] > 15;
        address[1] += (uint)pauseMs;
        *address = wasLong ? 1u : 0;
        return false;
    }
}
