"""API for owners: the models that answer beside people."""

from __future__ import annotations

from fastapi import APIRouter

from ordinate.server.authentication import TheCaller
from ordinate.server.routes import OwnerRoute
from ordinate.server.schemas import Machines, MachineShown, NewMachine
from ordinate.study.machines import Machine
from ordinate.study.study import Study

router = APIRouter(prefix="/api/v1/studies/{study}", tags=["owning"], route_class=OwnerRoute)


@router.get("/machines", summary="The models that answer")
def machines(caller: TheCaller) -> Machines:
    study = caller.served.study
    return Machines(machines=[_shown(study, name, machine) for name, machine in study.machines.items()])


@router.post("/machines", summary="Say that a model answers under a name")
def add_machine(caller: TheCaller, new: NewMachine) -> MachineShown:
    """Again with the same model and prompt, it changes nothing. A person's name, or another judge's, is refused."""
    machine, study = Machine(new.model, new.prompt, new.orders, new.parameters), caller.served.study
    name = study.add_machine(new.annotator, machine)
    return _shown(study, name, study.machines[name])


def _shown(study: Study, name: str, machine: Machine) -> MachineShown:
    return MachineShown(annotator=name, **machine._asdict(), tokens=study.tokens(name))
