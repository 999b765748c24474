namespace Cairn.TortureTests.Histories;

/// <summary>Tests the checker itself with correct histories, and with wrong histories of every kind.</summary>
public sealed class HistoryCheckerTests
{
    [Fact]
    public void Sequential_history_is_right()
    {
        ExpectRight(Write(1, 0, 1), Read(1, 2, 3), Write(2, 4, 5), Read(2, 6, 7), Remove(8, 9), Write(3, 10, 11), Read(3, 12, 13));
    }

    [Fact]
    public void Concurrent_reads_may_see_the_old_or_the_new_value()
    {
        ExpectRight(Write(1, 0, 1), Write(2, 10, 20), Read(1, 11, 12), Read(2, 13, 14), Read(2, 30, 31));
        ExpectRight(Write(1, 0, 1), Write(2, 10, 20), Read(2, 11, 12), Read(2, 13, 14));
        ExpectRight(Write(1, 0, 1), Remove(10, 20), Read(1, 11, 12), Read(1, 13, 14));
    }

    [Fact]
    public void Reads_never_go_back()
    {
        ExpectWrong(Write(1, 0, 1), Write(2, 10, 20), Read(2, 11, 12), Read(1, 13, 14));
    }

    [Fact]
    public void Value_that_was_replaced_is_never_read()
    {
        ExpectWrong(Write(1, 0, 1), Write(2, 2, 3), Read(1, 4, 5));
        ExpectWrong(Write(1, 0, 1), Read(1, 2, 3), Write(2, 4, 5), Read(2, 6, 7), Read(1, 8, 9));
    }

    [Fact]
    public void Value_that_was_removed_is_never_read()
    {
        ExpectWrong(Write(1, 0, 1), Remove(2, 3), Read(1, 4, 5));
    }

    [Fact]
    public void Value_is_not_read_before_it_was_written_or_if_it_never_was()
    {
        ExpectWrong(Read(1, 0, 1), Write(1, 2, 3));
        ExpectWrong(Read(1, 0, 1));
    }

    [Fact]
    public void Value_is_written_once()
    {
        ExpectWrong(Write(1, 0, 1), Write(1, 2, 3));
    }

    [Fact]
    public void Pending_write_may_have_happened_or_not()
    {
        ExpectRight(Write(1, 0, 1), Pending(2, 2, 100), Read(1, 4, 5));
        ExpectRight(Write(1, 0, 1), Pending(2, 2, 100), Read(1, 4, 5), Read(2, 6, 7), Read(2, 200, 201));
        ExpectRight(Write(1, 0, 1), Pending(2, 2, 100), Write(3, 200, 201), Read(3, 202, 203));
    }

    [Fact]
    public void Pending_write_does_not_happen_after_its_process_is_dead()
    {
        ExpectWrong(Pending(2, 2, 100), Remove(200, 201), Read(2, 202, 203));
        ExpectWrong(Pending(2, 2, 100), Write(3, 200, 201), Read(2, 202, 203));
    }

    [Fact]
    public void Two_values_are_not_current_by_turns()
    {
        ExpectWrong(Write(1, 0, 10), Write(2, 0, 10), Read(1, 11, 12), Read(2, 13, 14), Read(1, 15, 16));
    }

    [Fact]
    public void Keys_are_judged_apart()
    {
        ExpectRight(Write(1, 0, 1), Write(2, 2, 3) with { Key = 9 }, Read(1, 4, 5));
    }

    private static Operation Write(long value, long start, long end) => new(5, Effect.Wrote, value, start, end, 1);

    private static Operation Pending(long value, long start, long deathTime) =>
        new(5, Effect.Wrote, value, start, deathTime, 1, IsPending: true);

    private static Operation Read(long value, long start, long end) => new(5, Effect.Read, value, start, end, 2);

    private static Operation Remove(long start, long end) => new(5, Effect.Removed, 0, start, end, 3);

    private static void ExpectRight(params Operation[] operations) => Assert.Empty(HistoryChecker.FindFaults(operations));

    private static void ExpectWrong(params Operation[] operations) => Assert.NotEmpty(HistoryChecker.FindFaults(operations));
}
