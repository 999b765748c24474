namespace Cairn.Simulation.Scheduling;

/// <summary>Runs tasks as work of the machine that starts them. It takes the place of <see cref="TaskScheduler.Default"/>.</summary>
internal sealed class MachineTaskScheduler : TaskScheduler
{
    public static readonly MachineTaskScheduler Instance = new();

    private static readonly SendOrPostCallback s_execute = static task => Instance.TryExecuteTask((Task)task!);

    protected override void QueueTask(Task task) => World.Current.Here.Post(s_execute, task);

    protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => false;

    protected override IEnumerable<Task> GetScheduledTasks() => [];
}
